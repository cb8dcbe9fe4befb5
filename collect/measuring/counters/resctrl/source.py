"""resctrl as a source of counters: each L3 cache's traffic with local and with all memory, for one group of processes.

It follows Linux's documentation (filesystems/resctrl.rst; before Linux 6.16 arch/x86/resctrl.rst): no computer with
these counters was at hand. The launcher writes the program's process number to the group before the program starts;
child processes inherit the group.
"""

import os
import re
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Variables
from contextlib import contextmanager
from pathlib import Path

from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.measuring.counters.resctrl.counts import LOCAL, TOTAL, Pair, moved, read_pair
from numapredict.collect.measuring.counters.resctrl.domains import DomainFolder, l3_domains, places
from numapredict.collect.measuring.counters.resctrl.events import (
    WRITTEN_BACK_NOTE,
    counts_written_back,
    usual_setting,
    wrong_events,
)
from numapredict.collect.measuring.counters.resctrl.group import KernelFolders, monitoring_group, parent_group
from numapredict.collect.measuring.counters.source import NodeTraffic, Obstacle, Traffic
from numapredict.collect.placing.launcher import Launching, launcher_command
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError

_MOUNT = Path("sys/fs/resctrl")
_FLAGS = ("cqm_mbm_total", "cqm_mbm_local")


class ResctrlSource:
    """Counts by resctrl's memory bandwidth monitoring; in tests ``root`` replaces / and ``folders`` the kernel."""

    name = "resctrl"

    def __init__(self, topology: Topology, root: Path = Path("/"), folders: KernelFolders | None = None) -> None:
        self.topology = topology
        self.root = root
        self._resctrl = root / _MOUNT
        self.folders = folders or KernelFolders()

    def obstacle(self) -> Obstacle | None:
        """Return why resctrl cannot count here, and what would enable it, or None."""
        info = self._resctrl / "info/L3_MON"
        if not (self._resctrl / "info").is_dir():
            return self._unmounted()
        features = kernel_text(info / "mon_features").split()
        missing = [event for event in (LOCAL, TOTAL) if event not in features]
        if missing:
            return Obstacle(f"resctrl counts no {' and no '.join(missing)} on this processor")
        wrong = wrong_events(info)
        if wrong:
            return Obstacle(
                f"{' and '.join(wrong)} {'was' if len(wrong) == 1 else 'were'} set up to count other things than all "
                "memory traffic",
                tuple(f"echo '{usual_setting(info, event)}' | sudo tee {info}/{event}_config" for event in wrong),
            )
        parent = parent_group(self._resctrl, self.root)
        try:
            self._places(parent)
        except CounterError as error:
            return Obstacle(str(error))
        groups = parent / "mon_groups"
        if not os.access(groups, os.W_OK | os.X_OK):
            return Obstacle(
                f"no monitoring group may be made in {groups}",
                (f'sudo chown "$USER" {groups}',),
            )
        return None

    @contextmanager
    def counting(self, pus: Sequence[int], folder: Path) -> Iterator["ResctrlCounting"]:
        """Make a group for one run, and remove it on leaving; see CounterSource."""
        obstacle = self.obstacle()
        if obstacle is not None:
            raise CounterError(obstacle.reason, obstacle.remedies[:1])
        parent = parent_group(self._resctrl, self.root)
        with monitoring_group(parent, self.root, self.folders) as group:
            found = self._places(group)
            notes = (WRITTEN_BACK_NOTE,) if counts_written_back(self._resctrl / "info/L3_MON") else ()
            yield ResctrlCounting(self, group, found, frozenset(pus), notes)

    def _places(self, group: Path) -> tuple[DomainFolder, ...]:
        """Return where a group counts each node's traffic; raise CounterError where a node has no place."""
        found = places(l3_domains(self.root), group / "mon_data")
        counted = {place.node for place in found}
        for node in self.topology.cpu_nodes:
            if node.os_index not in counted:
                raise CounterError(f"NUMA node {node.os_index} has no L3 cache, and resctrl counts at no other")
        return found

    def _unmounted(self) -> Obstacle:
        """Return why there is no resctrl: it is not mounted, or kernel or processor lack it."""
        if re.search(r"^nodev\s+resctrl$", kernel_text(self.root / "proc/filesystems"), re.MULTILINE):
            command = f"sudo mount -t resctrl resctrl /{_MOUNT}"
            return Obstacle(f"resctrl is not mounted on /{_MOUNT}", (command,))
        flags = kernel_text(self.root / "proc/cpuinfo").partition("\nflags")[2].partition("\n")[0].split()
        if not set(_FLAGS) <= set(flags):
            where = "this virtual machine has" if "hypervisor" in flags else "this processor has"
            return Obstacle(f"{where} no memory bandwidth monitoring (no {' and '.join(_FLAGS)} in /proc/cpuinfo)")
        return Obstacle("this kernel was built without resctrl: use one with CONFIG_X86_CPU_RESCTRL")


class ResctrlCounting:
    """One run in a separate group; ``pus`` are those that the program runs on."""

    def __init__(
        self,
        source: ResctrlSource,
        group: Path,
        found: Sequence[DomainFolder],
        pus: frozenset[int],
        notes: tuple[str, ...],
    ) -> None:
        self.source = source
        self.group = group
        self.places = tuple(found)
        self.pus = pus
        self.notes = notes
        self.before = self._read()
        if any("Unassigned" in pair.words for pair in self.before.values()):
            self._assign()
            self.before = self._read()

    def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
        """Return the command that joins the group and then becomes ``command``."""
        return launcher_command(command, variables, Launching(join=self.group / "tasks"))

    def traffic(self) -> Traffic:
        """Return what each node's cores moved; see CounterSource."""
        after = self._read()
        nodes = [node.os_index for node in self.source.topology.nodes]
        local, remote = dict.fromkeys(nodes, 0.0), dict.fromkeys(nodes, 0.0)
        for place in self.places:
            pair = after[place]
            if not self._counted(place, pair) or place.node not in local:
                continue
            here, elsewhere = moved(self.before[place], pair)
            local[place.node] += here
            remote[place.node] += elsewhere
        if not any(local.values()) and not any(remote.values()):
            raise CounterError(
                f"{TOTAL} and {LOCAL} stayed 0 on every node: this processor's counters do not count, or the program "
                "moved less than their unit"
            )
        return Traffic(
            source=self.source.name,
            nodes=tuple(NodeTraffic(local[node], remote[node]) for node in nodes),
            notes=self.notes + self._stayed(),
        )

    def _read(self) -> dict[DomainFolder, Pair]:
        read = self.source.folders.read
        return {place: read_pair(self.group / "mon_data" / place.folder, read) for place in self.places}

    def _counted(self, place: DomainFolder, pair: Pair) -> bool:
        """Return whether a place has numbers; without them raise CounterError if the program ran there.

        AMD processors assign their counters to the groups with traffic: other places have none.
        """
        lost = pair.words or (pair.local.again or pair.total.again)
        if not lost:
            return True
        if not place.pus & self.pus:
            return False
        said = (
            f"{self.group}/mon_data/{place.folder} said {min(pair.words, default='Unavailable')} where the program ran"
        )
        if "Error" in pair.words:
            raise CounterError(f"{said}: the processor refuses to count; use another source of counters")
        raise CounterError(
            f"{said}: there are too few hardware counters; remove groups that nobody needs, and run again"
        )

    def _assign(self) -> None:
        """Request hardware counters in all domains, where they are assigned on request (mbm_event mode, Linux 6.18)."""
        for event in (LOCAL, TOTAL):
            try:
                (self.group / "mbm_L3_assignments").write_text(f"{event}:*=e\n")
            except OSError as error:
                raise CounterError(
                    f"no hardware counter is free for {event} ({error.strerror}): remove groups that nobody needs"
                ) from None

    def _stayed(self) -> tuple[str, ...]:
        left = kernel_text(self.group / "tasks").split()
        if not left:
            return ()
        return (f"{len(left)} processes of the program went on after it ended; what they move now is not counted",)
