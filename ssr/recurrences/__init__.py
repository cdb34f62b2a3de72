"""recurrences."""
