"""The HPCG benchmark problem: conjugate gradients with a multigrid preconditioner."""
