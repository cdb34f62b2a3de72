"""Every stage between a definition and its kernel, shown.

Takes a matrix or a program. Gives text, and drawings for notebooks.
"""
