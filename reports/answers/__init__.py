"""What is done with answers that were kept: ask whether one still holds, and how two differ."""
