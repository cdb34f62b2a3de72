"""Every stage between a definition and its kernel, as text or as a picture.

Takes matrices as values and programs of the intermediate representation. Gives what `explain`
prints, what a notebook shows, and what ``SSR_DUMP`` writes.
"""
