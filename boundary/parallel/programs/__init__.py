"""Programs bound to distributed fields, and the public functions that distribute a space.

Takes programs, fields and a partition. Gives distributions, fields and bound programs.
"""
