"""What boxes read of each other, and when it moves, derived for any program on any partition.

Takes a kernel of the distributed form, and a partition. Gives exchanges, messages and their order
as values, for all ranks or for one.
"""
