"""The faces of matrices: `Matrix` for staged ones, `StoredMatrix` for those with stored parts.

Takes `MatrixData` and sparse matrices of SciPy. Gives the operators that users write with.
"""
