"""The HTML page: its subject, its contents, and its parts, each a `*_data()` that returns a frozen record."""
