"""The Numba back end: kernels compiled by `numba.njit`, and kernels called from user functions.

Only this package uses Numba. It requires only the interfaces that Numba documents for extensions.
"""
