"""Particles and receivers off the grid: interpolation of fields to points, and injection."""
