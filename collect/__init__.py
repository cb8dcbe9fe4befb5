"""Measure: topologies, mappings, programs, machines that run them, campaigns and the dataset they fill."""

import logging

# A program that uses the library sees what it logs once it configures logging, and nothing before.
logging.getLogger("numapredict").addHandler(logging.NullHandler())
