"""The part that touches the machine: C libraries and programs, and the one module that finds them."""
