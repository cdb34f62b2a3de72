"""Fields and programs on ranks: memory of their own, tables of kernels, messages.

Takes a partition, programs and schedules. Gives fields, and programs bound to them.
"""
