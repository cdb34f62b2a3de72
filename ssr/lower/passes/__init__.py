"""Passes over loop nests: functions from a nest to an equivalent nest, one rewrite per module.

Passes that regroup sums change the arithmetic of all rows in the same way; `Options.exact`
disables them. All other passes are bit-exact.
"""
