"""Symbolic tracing of row generators, one run for each path through their conditions.

Takes a generator and its spaces. Gives paths: sets of rows with the same outcomes of all
conditions, and their entries.
"""
