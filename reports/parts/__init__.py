"""The parts of a page: each a `*_data()` that returns a frozen record; the templates draw them."""
