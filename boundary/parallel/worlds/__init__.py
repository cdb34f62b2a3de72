"""Transports between ranks: MPI processes, threads, simulated ranks, and traced ranks.

Input: messages, given as an array on either side. Output: worlds of ranks, and channels, which
kernels can operate without calling Python.
"""
