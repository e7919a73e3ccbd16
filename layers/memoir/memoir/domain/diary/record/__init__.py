"""What is kept of a diary, and what is recalled of it."""
