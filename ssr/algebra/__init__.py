"""Matrices as values: families of entries, what is made of them, and the definition on integers.

Takes the paths of a generator. Gives `MatrixData`, closed under sums, products, transposes and
parts, and what is proved of their rows: triangular, in place, which before which.
"""
