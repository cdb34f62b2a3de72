"""Scaling of programs over ranks: simulated from measured work, and measured on a cluster."""
