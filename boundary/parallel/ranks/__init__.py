"""Fields and programs on ranks: memory of their own, and tables of kernels.

Takes a partition, a world of ranks, programs and schedules. Gives fields, and programs bound to
them.
"""
