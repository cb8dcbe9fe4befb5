"""Runs that adapt."""
