"""Characterise: what threads, nodes and policies do to one program's time and memory accesses (thesis sec. 4)."""
