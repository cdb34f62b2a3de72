"""Matrix algebra on entry families, proofs about them, and reference definitions on integers.

Takes the paths of a generator. Gives `MatrixData`, closed under sums, products, transposes and
parts, and proofs about its rows: triangularity, in-place safety, and the order of rows.
"""
