"""The Python interface: what `import numapredict` gives, with the same answers as the commands."""
