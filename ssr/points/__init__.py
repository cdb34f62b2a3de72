"""Affine expressions of indices and sizes, and the sets of integer points they describe.

Takes indices, sizes and conditions. Gives sets for all sizes at once, and the loops that run
through them; isl works here and nowhere else.
"""
