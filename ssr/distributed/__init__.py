"""Analyses and tables that only programs on ranks need: regions that are read, transfers, steps.

Takes nests and fields of a program. Gives the regions of arrays that each nest accesses, and the
tables by which a kernel runs the steps of a communication schedule.
"""
