"""The diary: when one is due, how a model is asked, how its answer is judged, what is recalled.

Pure functions over plain values. What is stored for rounds a–b is one entry: a summary of the story up to b,
and where the plan says so the character's diary of a–b.
"""
