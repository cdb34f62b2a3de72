"""Generation of kernel IR from loops.

Takes the loops of a program. Gives a module of kernel IR, and the description that its callers
need.
"""
