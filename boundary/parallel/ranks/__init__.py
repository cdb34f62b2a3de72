"""Fields and programs on ranks: local memory, and the tables of kernels.

Input: a partition, a world of ranks, programs and schedules. Output: fields, and programs bound to
them.
"""
