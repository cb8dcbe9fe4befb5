"""The name of this computer among the nodes of a cluster."""

import os
import platform
import re
from collections.abc import Mapping as Variables

_MOST_LETTERS = 40


def node_name(variables: Variables[str, str] | None = None) -> str:
    """Return what the batch system calls this node, else its host name without the domain; letters fit for a file.

    SLURMD_NODENAME: sbatch(1), srun(1). Names of nodes and of hosts may differ, and `--exclude` takes the former.
    """
    found = (os.environ if variables is None else variables).get("SLURMD_NODENAME") or platform.node()
    return re.sub(r"[^A-Za-z0-9_-]", "-", found.partition(".")[0])[:_MOST_LETTERS] or "node"
