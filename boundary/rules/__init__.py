"""Rules for ghost points beyond the sides of blocks.

Takes values, polynomials and matrices on sides. Gives rules: a row for each ghost beyond a side.
"""
