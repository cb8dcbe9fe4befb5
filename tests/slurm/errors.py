"""What goes wrong with SLURM itself, as opposed to with what it runs."""


class SlurmError(Exception):
    """SLURM is not installed, cannot be fetched, or does not start."""
