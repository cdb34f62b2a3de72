"""Products with a matrix on a periodic box over the ranks of MPI.

Takes a matrix and a communicator. Gives a plan of what is exchanged, and the product.
"""
