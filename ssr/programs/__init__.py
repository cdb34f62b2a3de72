"""Programs: functions of fields whose bodies are traced into sequences of assignments.

Takes functions of fields and scalars. Gives programs of the intermediate representation, ready
to be called with arrays.
"""
