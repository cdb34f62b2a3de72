"""Rewrites of programs before nests exist: each takes the steps of a program and returns others."""
