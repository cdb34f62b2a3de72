"""Calls of kernels.

Takes a kernel and arrays. Checks the arrays, lays out the boxes of the call, and gives what the
kernel computes.
"""
