"""Facts of this computer that measuring depends on: its settings, its load, its limits, and what it runs in."""
