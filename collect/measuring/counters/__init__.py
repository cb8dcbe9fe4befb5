"""Counters of memory traffic: one source per folder behind one interface, and the self-test of each source."""
