"""Eigenvalues of symmetric matrices by LOBPCG."""
