"""Learn from a dataset and predict: features, clustering, probes, models, evaluation."""
