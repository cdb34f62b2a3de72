"""Small passes from nest to nest: one idea per file.

A pass whose module says `reassociates` changes the arithmetic of a row, for all rows alike;
`Options.exact` switches it off. All others keep every bit.
"""
