"""Which rank owns which points.

Takes a grid or a space, sizes, and a number of ranks. Gives boxes and their owners.
"""
