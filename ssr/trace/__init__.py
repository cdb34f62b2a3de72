"""Generators of one row, run on symbols once for each path through their conditions.

Takes a generator and its spaces. Gives paths: the rows that take the same way, and their entries.
"""
