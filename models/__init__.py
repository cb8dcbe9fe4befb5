"""Shipped models, and the machines (models/machines) that numapredict can model from published figures."""
