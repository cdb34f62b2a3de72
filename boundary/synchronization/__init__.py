"""Points that several blocks share, made equal.

Takes the fields of a grid. Gives steps of programs that assign to all copies of a point their mean,
or the value of their owner.
"""
