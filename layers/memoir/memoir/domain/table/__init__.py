"""The memory table: the document, the edits that a model writes into its replies, and their effect."""
