"""From a dataset to a model: features, clustering, choice of probes, gain models."""
