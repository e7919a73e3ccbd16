"""What a model is asked: the rounds, the instructions, the language."""
