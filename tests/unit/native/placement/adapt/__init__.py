"""The decisions of a run that adapts."""
