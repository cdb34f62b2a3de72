"""Proofs that a schedule computes on ranks the values of one array; ``SSR_VERIFY=1`` runs them.

Takes a schedule and the actions of a program. Gives nothing, or the row and the read that differ.
"""
