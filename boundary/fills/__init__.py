"""Fills of ghosts as affine matrices.

Takes rules for the ghosts of a space. Gives fills, and their products with matrices.
"""
