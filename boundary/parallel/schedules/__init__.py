"""Communication schedules: halo reads of boxes and their exchanges, for any program and partition.

Takes a kernel of the distributed form, and a partition. Gives exchanges, messages and their order
as values, for all ranks or for one.
"""
