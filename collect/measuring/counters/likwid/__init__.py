"""Memory traffic by LIKWID."""
