"""Programs over fields: what their bodies compute with, and what records it.

Takes functions over fields, and matrices as data. Gives programs that can be called and bound.
"""
