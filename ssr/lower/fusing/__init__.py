"""Fusion of nests, and smaller temporaries after it."""
