"""Measured times: repetitions, disturbances, the measurement lock and hardware counters."""
