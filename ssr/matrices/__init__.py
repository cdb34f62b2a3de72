"""The public matrices: thin faces over data.

Takes declarations and operands. Gives matrices that are applied, combined and solved with.
"""
