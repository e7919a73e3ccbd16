"""What came back: read tolerantly, then accepted or rejected."""
