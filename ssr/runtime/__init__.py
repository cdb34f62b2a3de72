"""Operations of kernels: access to memory, fused arithmetic, order-independent sums.

Takes arrays and offsets. Gives the same bits from plain Python and from compiled code.
"""
