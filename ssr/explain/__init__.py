"""Inspection: every stage between a definition and its kernel, as text or as a picture.

Takes matrices as values and programs of the intermediate representation. Gives the output of
`explain`, of notebooks, and of ``SSR_DUMP``.
"""
