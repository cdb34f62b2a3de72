"""Multi-block grids: blocks, connectivity of their sides, and frames of interior and ghost points.

Input: extents and links. Output: grids, their spaces, and frames, which classify the points of each
block as interior (``owned``) or ghost points.
"""
