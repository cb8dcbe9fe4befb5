"""Measurements in files: datasets, journals, tables of others; and the recorded machine, which plays them back."""
