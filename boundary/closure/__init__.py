"""Every ghost in terms of owned points.

Takes a frame and rules. Gives regions of ghosts that are boxes, or the finding that one has no
definition or two; and the same point by point, as an oracle.
"""
