"""Resolution of ghost rules: each ghost point as an affine combination of interior points.

Input: a frame and rules. Output: boxes of ghost points that share one row, or the error that a
ghost point has no definition or two different ones. A point-by-point version of the resolution is
the oracle of the tests.
"""
