"""Kernels compiled by `numba.njit`, and the package's kernels in functions that it compiles.

This is the only folder that uses Numba. It needs the interfaces that Numba documents for
extensions, and nothing else of it.
"""
