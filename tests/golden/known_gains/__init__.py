"""The gains that ship, which searches know; `python -m tests.golden.known_gains` makes the file from the datasets."""
