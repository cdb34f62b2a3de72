"""Solvers written with the public names of `ssr`, as a user would write them."""
