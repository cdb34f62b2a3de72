"""Programs on ranks: partitions, communication schedules, transports, and distributed fields.

Takes programs and fills. Gives fields that processes or threads share, and programs bound to them.
"""
