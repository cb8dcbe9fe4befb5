"""From a program and a model to advice: probes, assignment, evidence, words, and the verified run."""
