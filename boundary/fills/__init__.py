"""fills."""
