"""Direct stiffness averaging: synchronization of the points that several blocks share.

Input: the fields of a grid. Output: program steps that assign to all copies of a point their mean,
or the value of their owner.
"""
