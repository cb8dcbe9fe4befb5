"""Run a program under a mapping on this computer, and say where its threads and pages stood."""
