"""Table-driven ghost fills: bytecode, and the virtual machine that executes it in a kernel.

Input: pieces of ghost points, and the sets of elements that a program reads. Output: steps of
programs.
"""
