"""Counters of memory traffic: a source a folder behind one interface, and the test that says which to believe."""
