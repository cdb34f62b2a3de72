"""Run-time operations of kernels: memory access, fused arithmetic, order-independent sums.

Takes arrays and offsets. Gives bitwise identical results from plain Python and from compiled code.
"""
