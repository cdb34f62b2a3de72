"""Row recurrences: matrices whose rows depend on earlier rows, such as incomplete factorizations.

Takes a generator that reads earlier rows. Gives a matrix, and the sweep that computes its stored
entries.
"""
