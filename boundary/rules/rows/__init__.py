"""Rows of ghost points: affine combinations of other points, for strips of a side."""
