"""Memory traffic by Linux's perf."""
