"""From a program to a compiled kernel: the passes in order, Numba, and the cache on disk.

Takes a program of the intermediate representation and options. Gives a function of arrays and
what its caller must know about it.
"""
