"""Times that a clock gave: how often a program runs, and what else went on meanwhile."""
