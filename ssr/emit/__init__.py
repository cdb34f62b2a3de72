"""The source of kernels.

Takes the loops of a program. Gives the text of a module for Numba, which is also plain Python, and
a record of all that a caller must know.
"""
