"""A Linux guest with any NUMA topology, under emulation: it proves where pages and threads go, never how fast."""
