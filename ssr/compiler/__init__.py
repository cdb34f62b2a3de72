"""Compilation of programs to kernels: the list of passes, the pipeline and the on-disk cache.

Takes a program of the intermediate representation and options. Gives a function of arrays and
the description that its caller needs.
"""
