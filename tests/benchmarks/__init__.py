"""Measurements of speed and size: programs to run by hand, never tests."""
