"""Many programs under every mapping of a machine: what to run, in which order, and going on after an interruption."""
