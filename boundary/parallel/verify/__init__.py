"""Verification of schedules against execution on one array; ``SSR_VERIFY=1`` enables it.

Input: a schedule and the actions of a program. Output: nothing, or the row and the read that
differ.
"""
