"""Affine expressions, and sets of integer points for all sizes at once.

Takes integers and names. Gives sets and maps, proofs about them, and loops along a line.
"""
