"""The modules of kernels.

Takes the loops of a program. Gives a module of kernel IR, and a record of all that a caller must
know.
"""
