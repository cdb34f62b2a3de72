"""Matrices whose rows are made one after the other, such as incomplete factorisations.

Takes a generator that reads earlier rows. Gives a matrix, and the program that computes its fields.
"""
