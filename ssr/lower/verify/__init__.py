"""Verifiers of nests and loops; ``SSR_VERIFY=1`` runs them after each rewrite."""
