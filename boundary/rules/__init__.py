"""Boundary rules: definitions of the ghost points beyond the sides of blocks.

Input: values, polynomials and matrices on sides. Output: rules, which give a row for each ghost
point beyond a side.
"""
