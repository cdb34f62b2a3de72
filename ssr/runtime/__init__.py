"""The functions that generated kernels import, in Numba and in plain Python.

Takes arrays and flat offsets. Gives loads, stores, fused operations and sums without order; the
record that describes a kernel is here too.
"""
