"""What kernels call: access to memory, fused arithmetic, sums that do not depend on their order.

Takes arrays and offsets. Gives the same bits from plain Python and from compiled code.
"""
