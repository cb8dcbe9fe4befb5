"""One run that gets faster while it runs: which mappings it may try, and what became of them."""
