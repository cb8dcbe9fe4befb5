"""Searches: which mapping of a program to run next, by what known programs gained."""
