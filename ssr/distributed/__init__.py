"""Analyses and tables for distributed programs: access regions, transfers and schedule steps.

Takes nests and fields of a program. Gives the regions of arrays that each nest accesses, and the
tables by which a kernel runs the steps of a communication schedule.
"""
