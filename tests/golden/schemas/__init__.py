"""JSON Schemas of all answers, as they were published; `python -m tests.golden.schemas` writes them anew."""
