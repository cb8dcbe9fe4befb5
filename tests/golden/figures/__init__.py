"""What figures show of data that never changes: one JSON file a figure, see README.md."""
