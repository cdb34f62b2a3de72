"""Verifiers of programs, nests, loops and kernels; ``SSR_VERIFY=1`` runs them after each pass."""
