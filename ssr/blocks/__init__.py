"""Block matrices: grids of matrices between components, declared densely or put together.

Takes generators whose values are dense blocks, and matrices. Gives `BlockMatrix`, whose work is
done by its blocks.
"""
