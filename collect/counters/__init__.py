"""Counters of memory traffic: one source a file behind one interface, and the test that says which can be believed."""
