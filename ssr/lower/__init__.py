"""Lowering from assignments to loops: program passes, nests, nest passes, fusion, loop schedules.

Takes a program of the intermediate representation. Gives the loops of each of its nests.
"""
