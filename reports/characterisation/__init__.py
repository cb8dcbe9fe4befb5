"""Show a characterisation: tables, JSON and the figures of the thesis's section 4."""
