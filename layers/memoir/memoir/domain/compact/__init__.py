"""Compaction: what of a long history is summarised, when a summary stands, and what the actor is sent."""
