"""Blocks, the links between their sides, and the points of blocks and their ghosts.

Takes extents and links. Gives grids, their spaces, and frames, which tell owned points from ghosts.
"""
