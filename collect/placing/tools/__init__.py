"""How tools that are already on a machine apply a mapping without us: a tool a file, all pure."""
