"""A computer with resctrl as a folder, and the kernel's part in it; what is in it: tests/golden/resctrl/README.md."""

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from numapredict.collect.measuring.counters.resctrl.group import KernelFolders
from numapredict.collect.topology import Core, Node, Topology
from tests.planted_files import plant

TREES = Path(__file__).parent / "golden" / "resctrl"


class FakeKernel(KernelFolders):
    """Makes and removes groups in a planted tree as the kernel would: fills new ones, and has only so many ids."""

    def __init__(self, name: str, root: Path) -> None:
        self.root = root
        self.resctrl = root / "sys/fs/resctrl"
        self._of_group: dict[str, str] = {}
        self._after: dict[str, str] = {}
        for line in (TREES / f"{name}.tree").read_text().splitlines():
            if line.startswith("#"):
                continue
            path, _, content = line.partition("\t")
            text = content.replace("\\n", "\n").replace("\\t", "\t")
            kind, _, rest = path.partition("/")
            if kind == "GROUP":
                self._of_group[rest] = text
            elif kind == "AFTER":
                self._after[rest] = text
            else:
                plant(root, {path: text})
        self.refusal: OSError | None = None
        self.made: list[Path] = []
        self.first_reads: dict[str, str] = {}
        """What a file below mon_data says when it is read next, and only then."""

    @property
    def groups(self) -> list[str]:
        """Return the names of the monitoring groups there are."""
        return sorted(path.name for path in (self.resctrl / "mon_groups").iterdir())

    def make(self, path: Path) -> None:
        super().make(path)
        ids = int((self.resctrl / "info/L3_MON/num_rmids").read_text())
        if self.refusal or len(self.groups) + 1 > ids:  # one is the default group's
            path.rmdir()
            (self.resctrl / "info/last_cmd_status").write_text("Out of RMIDs\n")
            raise self.refusal or OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        plant(path, self._of_group)
        self.made.append(path)

    def read(self, path: Path) -> str:
        return self.first_reads.pop("/".join(path.parts[-2:]), None) or super().read(path)

    def remove(self, path: Path) -> None:
        if not path.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        with (self.resctrl / "tasks").open("a") as parent:
            parent.write((path / "tasks").read_text())
        shutil.rmtree(path)

    def run(self, group: Path, changes: Mapping[str, str] | None = None) -> None:
        """Let a program have run in the group: its counters say what the tree has for afterwards, or ``changes``."""
        plant(group, self._after | {f"mon_data/{path}": text for path, text in (changes or {}).items()})


def topology_of(nodes: Mapping[int, tuple[int, ...]]) -> Topology:
    """Return a topology of nodes by OS index, each with cores of one of these PUs, and memory."""
    made = []
    core = 0
    for index, (os_index, pus) in enumerate(nodes.items()):
        cores = tuple(Core(core + position, (pu,)) for position, pu in enumerate(pus))
        core += len(cores)
        made.append(Node(index, os_index, cores, 1 << 30))
    count = len(made)
    distances = tuple(tuple(10.0 if i == j else 20.0 for j in range(count)) for i in range(count))
    return Topology("tree", tuple(made), (), distances)
