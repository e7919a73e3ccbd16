"""V2 background state: what a director and an actor know of the scene, and who may see what of it."""
