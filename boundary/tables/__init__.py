"""Ghosts by tables: one compiled function works through records of integers.

Takes pieces of ghosts, and the sets that a program reads. Gives steps of programs.
"""
