"""Kernel IR, the last representation of a kernel: loops, branches and memory accesses."""
