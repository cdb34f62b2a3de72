"""Rows of ghost points: affine combinations of other points, by strips of a side."""
