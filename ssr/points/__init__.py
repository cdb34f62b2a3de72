"""Polyhedral sets: affine expressions of indices and sizes, and the integer sets they describe.

Takes indices, sizes and conditions. Gives sets for all sizes at once, and the loops that run
through them. Only this package uses isl.
"""
