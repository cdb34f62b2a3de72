"""Points off the grid: interpolation to them, and injection from them."""
