"""Index sets in NumPy axis order, and the shapes of the arrays that live on them.

Takes extents, known or symbolic. Gives spaces, their points as sets, and sizes from shapes.
"""
