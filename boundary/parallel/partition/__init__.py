"""Domain decomposition: the boxes of a partition, and the rank that owns each.

Input: a grid or a space, sizes, and the number of ranks. Output: boxes and their owners.
"""
