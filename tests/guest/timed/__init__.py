"""Timed guests: guests whose memory takes as long as that of a described NUMA machine, times a factor."""
