"""Ghost fills as affine matrices.

Input: rules for the ghost points of a space. Output: fills, and their products with matrices.
"""
