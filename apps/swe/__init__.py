"""Shallow water on the cubed sphere."""
