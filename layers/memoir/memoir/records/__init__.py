"""What is stored and how: keys, facts and bodies of each kind of record, and writes that belong together.

Pure: nothing here knows a store. What a reader cannot make sense of is RecordCorrupt, never empty.
"""
