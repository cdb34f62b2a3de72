"""Functions in LLVM's language for ranks that share memory: messages, reductions, thread pools.

Gives text for llvmlite, and the signatures by which Python and kernels call it.
"""
