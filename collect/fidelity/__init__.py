"""Fidelity: what papers measured on the described machines, compared with the model; a source a file."""
