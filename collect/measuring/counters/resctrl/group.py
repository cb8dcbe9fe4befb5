"""A monitoring group of resctrl: made for one run, removed after it or, where the run was killed, by a later one.

Making a folder creates a group, removing it ends the group (filesystems/resctrl.rst, "Resource alloc and monitor
groups"); the kernel manages the files in it. Removing a group never ends a process: those in it return to the parent.
"""

import errno
import itertools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_text
from numapredict.native.errors import CounterError

_NAME = re.compile(r"numapredict-([0-9]{1,20})-([0-9]{1,10})-([0-9]{1,20})-([0-9]{1,9})")


class KernelFolders:
    """How groups are made, read and removed; tests without resctrl use a twin that behaves as the kernel does."""

    def make(self, path: Path) -> None:
        """Make the group's folder."""
        path.mkdir()

    def read(self, path: Path) -> str:
        """Return the current text of one of the group's files."""
        return path.read_text(errors="replace")

    def remove(self, path: Path) -> None:
        """Remove the group's folder; the kernel's files in it do not count as content."""
        path.rmdir()


class Maker(msgspec.Struct, frozen=True):
    """The process that made a group.

    ``start_ticks`` distinguishes it from a later process with its number, ``namespace`` from one with its number in
    another container, from where neither the process nor its group's processes are visible.
    """

    namespace: int
    pid: int
    start_ticks: int

    def name(self, number: int) -> str:
        """Return the name of the maker's n-th group."""
        return f"numapredict-{self.namespace}-{self.pid}-{self.start_ticks}-{number}"


def parent_group(resctrl: Path, root: Path) -> Path:
    """Return the group that this process belongs to, in which a group for its children can be made.

    A process in a resctrl control group can only be monitored inside that group: the kernel refuses others.
    /proc/PID/cpu_resctrl_groups (Linux 5.6) names it: ``res:/`` for the default group, ``res:NAME`` for others.
    """
    for line in kernel_text(root / "proc/self/cpu_resctrl_groups").splitlines():
        key, _, name = line.partition(":")
        if key == "res" and name not in {"", "/"} and "/" not in name and name not in {".", ".."}:
            return resctrl / name
    return resctrl


@contextmanager
def monitoring_group(parent: Path, root: Path, folders: KernelFolders) -> Iterator[Path]:
    """Make a group for a run and always remove it; raise CounterError where the kernel refuses.

    Groups that a killed run of numapredict left are removed first.
    """
    remove_leftovers(parent / "mon_groups", root, folders)
    group = _make(parent / "mon_groups", this_maker(root), folders)
    try:
        yield group
    except BaseException as error:
        left = _remove(group, folders)
        if left:
            error.add_note(left)
        raise
    left = _remove(group, folders)
    if left:
        raise CounterError(left)


def remove_leftovers(folder: Path, root: Path, folders: KernelFolders) -> tuple[str, ...]:
    """Remove numapredict's groups whose maker has ended and that have no processes; return their names."""
    removed = []
    namespace = this_maker(root).namespace
    for group in sorted(folder.glob("numapredict-*")):
        maker = maker_of(group.name)
        if maker is None or maker.namespace != namespace:
            continue
        if _start_ticks(kernel_text(root / "proc" / str(maker.pid) / "stat")) == maker.start_ticks:
            continue  # it still runs
        try:
            if (group / "tasks").read_text().split():
                continue
            folders.remove(group)
        except OSError:
            continue  # another run has just removed it, or it is another user's
        removed.append(group.name)
    return tuple(removed)


def maker_of(name: str) -> Maker | None:
    """Return the maker of a group of this name, or None where numapredict did not make it."""
    match = _NAME.fullmatch(name)
    return None if match is None else Maker(int(match[1]), int(match[2]), int(match[3]))


def this_maker(root: Path) -> Maker:
    """Return this process as a maker of groups, by /proc/self below ``root``."""
    stat = kernel_text(root / "proc/self/stat")
    pid = stat.partition(" ")[0]
    try:
        link = os.readlink(root / "proc/self/ns/pid")
    except OSError:
        link = ""
    found = re.fullmatch(r"pid:\[([0-9]{1,20})\]", link)
    return Maker(int(found[1]) if found else 0, int(pid) if pid.isdigit() else os.getpid(), _start_ticks(stat) or 0)


def _make(folder: Path, maker: Maker, folders: KernelFolders) -> Path:
    for number in itertools.count():
        group = folder / maker.name(number)
        try:
            folders.make(group)
        except FileExistsError:
            continue
        except OSError as error:
            raise CounterError(_refusal(folder, error)) from None
        return group
    raise AssertionError("counting never ends")


def _refusal(folder: Path, error: OSError) -> str:
    """Return why the kernel makes no group, and what to do about it."""
    said = kernel_text(folder.parent / "info/last_cmd_status").strip()
    reason = f"{error.strerror}" + (f" ({' '.join(said.split())})" if said and said != "ok" else "")
    text = f"resctrl makes no monitoring group in {folder}: {reason}"
    if error.errno == errno.ENOSPC:
        others = sorted(group.name for group in folder.iterdir() if group.is_dir())
        return (
            f"{text}; all of the processor's monitoring ids are taken: remove groups that nobody needs with "
            f"sudo rmdir{''.join(f' {folder}/{name}' for name in others[:3])}" + (" ..." if len(others) > 3 else "")
        )
    if error.errno == errno.EBUSY:  # "max_threshold_occupancy": ids stay in limbo while caches hold their lines
        return f"{text}; the caches still hold data of groups that were removed just now: try again in some seconds"
    return f"{text}; it works as root"


def _remove(group: Path, folders: KernelFolders) -> str:
    """Remove a group; return what to do where that fails, else "". A missing group counts as removed."""
    try:
        folders.remove(group)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"the monitoring group {group} could not be removed: {error.strerror}; sudo rmdir {group}"
    return ""


def _start_ticks(stat: str) -> int | None:
    """Return the 22nd field of /proc/PID/stat; the second, in parentheses, may hold anything (proc_pid_stat(5))."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[19].isdigit() else None
