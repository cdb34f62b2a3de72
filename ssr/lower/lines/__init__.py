"""Systems along grid lines as loops: elimination, and cyclic systems."""
