"""Solves along grid lines as loops: banded elimination, and cyclic systems."""
