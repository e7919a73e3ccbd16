"""The story: world facts, events and a narrative, settled on the turn that the host has confirmed."""
