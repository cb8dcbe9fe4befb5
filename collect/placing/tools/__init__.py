"""How other tools apply a mapping without numapredict: one file per tool, all pure."""
