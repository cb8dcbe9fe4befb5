"""Fidelity: what papers measured on the described machines, beside what the model says; a source a file."""
