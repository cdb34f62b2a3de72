"""synchronisation."""
