"""What `import numapredict` offers, one file a noun; pandas and scikit-learn load where they are used."""
