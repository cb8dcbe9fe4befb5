"""Samples of memory accesses by the processor: address, source and latency, as perf records them."""
