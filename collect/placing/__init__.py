"""Run a program under a mapping on this computer, and report where its threads and pages were placed."""
