"""LLVM IR of the run-time functions of ranks: messages, reductions, thread pools, event logs.

Output: modules that llvmlite compiles, and the signatures by which Python and kernels call the
functions.
"""
