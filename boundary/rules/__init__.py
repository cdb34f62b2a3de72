"""What the ghosts behind the sides of blocks are.

Takes values, polynomials and matrices on sides. Gives rules: a row for each ghost behind a side.
"""
