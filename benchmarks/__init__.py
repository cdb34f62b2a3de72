"""Comparisons with Fortran references, sparse libraries and the limits of the machine."""
