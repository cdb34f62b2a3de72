"""Matrices as data: entry families, what is done with them, and what is proved about them.

Takes paths of generators, families and stored matrices. Gives matrices as data and, by running
definitions on integers, SciPy's matrices.
"""
