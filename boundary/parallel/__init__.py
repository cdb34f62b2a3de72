"""Distributed-memory execution: partitions, communication schedules, transports, fields.

Input: programs and fills. Output: fields that are distributed over processes or threads, and
programs bound to these fields.
"""
