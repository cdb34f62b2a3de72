"""From assignments to loops: shorter programs, nests, passes, fusion, and loops over lines.

Takes a program of the intermediate representation. Gives the loops of each of its nests.
"""
