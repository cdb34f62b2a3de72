"""The common parts of the pseudo-applications of the NAS Parallel Benchmarks."""
