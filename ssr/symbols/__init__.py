"""Symbols in a generator: indices, run-time values, and functions of them.

Takes the numbers and names that a user writes. Gives values of the intermediate representation.
"""
