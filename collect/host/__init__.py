"""The computer at hand: what hwloc, control groups and the batch system say of it, its files, its facts."""
