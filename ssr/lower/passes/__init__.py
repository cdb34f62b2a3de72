"""Passes: functions that take a nest and return a better one, one idea in each file.

Those that regroup sums change the arithmetic of all rows alike, and `Options.exact` switches them
off; all others keep every bit.
"""
