"""Who the ranks of a job are, and how values get from one to another.

Takes messages, each an array on either side. Gives worlds of ranks, which are processes, threads,
or simulated one after the other, and channels that kernels work by themselves.
"""
