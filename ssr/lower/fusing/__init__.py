"""Loop fusion of nests, and the contraction and sharing of temporaries."""
