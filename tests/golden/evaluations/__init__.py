"""What evaluations of the shipped datasets found; `python -m tests.golden.evaluations` makes them anew, in minutes."""
