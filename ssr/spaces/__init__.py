"""Index spaces in NumPy axis order, and the shapes of the arrays on them.

Takes extents, known or symbolic. Gives spaces, their points as sets, and sizes from shapes.
"""
