"""Draw: one figure a file, data first and drawing second."""
