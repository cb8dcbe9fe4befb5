"""Measure: topologies, mappings, programs, machines that run them, campaigns and the dataset they fill."""
