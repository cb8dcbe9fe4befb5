"""Memory traffic by Linux's resctrl."""
