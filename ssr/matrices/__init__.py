"""matrices."""
