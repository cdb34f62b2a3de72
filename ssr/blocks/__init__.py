"""Block matrices: grids of matrices between components, from generators or composed of matrices.

Takes generators whose values are dense blocks, and matrices. Gives `BlockMatrix`, which delegates
all operations to its blocks.
"""
