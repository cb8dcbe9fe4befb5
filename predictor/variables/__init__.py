"""Say which variable of a program is in the wrong place, which line put it there, and what would help."""
