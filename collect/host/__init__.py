"""The local computer: its description by hwloc, control groups and the batch system, its files, its facts."""
