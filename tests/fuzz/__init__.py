"""Random cases against oracles that share no code with the compiler: ``python -m tests.fuzz``."""
