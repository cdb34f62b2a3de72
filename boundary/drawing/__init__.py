"""Matplotlib drawings of block connectivity and of the points that ghost points read.

Input: grids, and rows of ghost points. Output: drawings of blocks, links and ghost points.
"""
