"""Programs bound to distributed fields, and the public functions that distribute a space.

Input: programs, fields and a partition. Output: distributions, fields and bound programs.
"""
