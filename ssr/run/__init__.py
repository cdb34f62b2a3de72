"""Calls of kernels: argument checks, box layout and launches.

Takes a kernel and arrays. Checks the arrays, lays out the boxes of the call, and gives the results
of the kernel.
"""
