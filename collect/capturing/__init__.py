"""Run single regions of a program again under other mappings, while it runs: forks of it, and what they took."""
