"""Where in the source is an address of a program: its function, file and line, and the variables there."""
