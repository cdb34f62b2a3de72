"""What a program costs on ranks of a machine that is not there: traces, and their replay."""
