"""The simulated cost of a program on the ranks of another machine: traces and their replay."""
