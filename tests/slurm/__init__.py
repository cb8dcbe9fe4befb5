"""A real SLURM in a folder, on this computer: Debian's packages unpacked, one controller, two nodes, munge."""
