"""The pseudo-applications of the NAS Parallel Benchmarks: what they have in common."""
