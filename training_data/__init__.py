"""Shipped datasets, one folder a machine; each dataset.json says with which command it was made."""
