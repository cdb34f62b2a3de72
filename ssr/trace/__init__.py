"""The run of a generator of one row on symbolic indices.

Takes a generator and the spaces of its rows and columns. Gives its paths: sets of rows, and the
entries of each.
"""
