"""Matrices between vector fields: grids of matrices, one for each pair of components.

Takes matrices, or a generator of dense blocks. Gives block matrices.
"""
