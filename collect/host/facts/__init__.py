"""Facts of this computer that affect measurements: settings, load, limits, and virtualisation."""
