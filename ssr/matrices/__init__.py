"""Public matrix classes: `Matrix` for matrix-free, `StoredMatrix` for assembled matrices.

Takes `MatrixData` and sparse matrices of SciPy. Gives the operators that users write with.
"""
