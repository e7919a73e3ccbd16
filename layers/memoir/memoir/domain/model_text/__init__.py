"""Text that a model wrote, below any format: cleaning, marks, reasoning, quoted strings.

Every pass is linear in the text, and none raises, whatever the text holds.
"""
