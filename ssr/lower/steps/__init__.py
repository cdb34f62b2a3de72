"""Passes over the steps of a program, before loop nests exist."""
