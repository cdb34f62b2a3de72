"""Programs: a body that runs on symbols, and the assignments collected meanwhile.

Takes functions of fields and scalars. Gives programs of the intermediate representation, ready
to be called with arrays.
"""
