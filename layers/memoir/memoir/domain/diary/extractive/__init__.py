"""The writer that needs no model."""
