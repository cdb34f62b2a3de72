"""Matrices whose rows are made one after the other, such as incomplete factorizations.

Takes a generator that reads rows made before. Gives a matrix, and the sweep that computes what
of it must be stored.
"""
