"""From a program to a compiled kernel, which is kept on disk.

Takes a program of the intermediate representation and options. Gives a kernel.
"""
