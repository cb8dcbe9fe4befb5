"""Control groups: where a process's limits are written, in version 1 and version 2 (cgroups(7))."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from numapredict.collect.host.kernel_file import kernel_text


class CgroupFolder(msgspec.Struct, frozen=True):
    """Where a controller's files for a process may be: below ``mount`` at ``path``, or at a parent of that."""

    mount: str
    path: str
    version2: bool


def cgroup_folders(cgroup: str, mountinfo: str, controller: str = "cpuset") -> tuple[CgroupFolder, ...]:
    """Return where the texts of /proc/PID/cgroup and /proc/PID/mountinfo place a process, in both versions' trees.

    Sources: cgroups(7) and proc_pid_mountinfo(5).
    """
    folders = []
    for line in mountinfo.splitlines():
        before, separator, after = line.partition(" - ")
        fields, kinds = before.split(), after.split()
        if not separator or len(fields) < 5 or len(kinds) < 3:
            continue
        version2 = kinds[0] == "cgroup2"
        if not version2 and not (kinds[0] == "cgroup" and controller in kinds[2].split(",")):
            continue
        path = _path(cgroup, controller, version2)
        if path is None:
            continue
        mounted = PurePosixPath(fields[3])
        inside = PurePosixPath(path)
        # A container sees only its part of the tree: there the path starts with what is mounted.
        relative = inside.relative_to(mounted) if inside.is_relative_to(mounted) else PurePosixPath(".")
        folders.append(CgroupFolder(fields[4], str(relative), version2))
    return tuple(folders)


def own_cgroup_folders(root: Path, controller: str) -> tuple[CgroupFolder, ...]:
    """Return where this process's files of a controller may be; in tests ``root`` replaces /."""
    return cgroup_folders(kernel_text(root / "proc/self/cgroup"), kernel_text(root / "proc/self/mountinfo"), controller)


def levels(root: Path, folder: CgroupFolder) -> Iterator[Path]:
    """Return a group's folder and those of its parents, up to the mount."""
    mount = root / folder.mount.lstrip("/")
    path = mount / folder.path
    for place in (path, *path.parents):
        yield place
        if place == mount:
            return


def _path(cgroup: str, controller: str, version2: bool) -> str | None:
    """Return the process's path in the version 2 tree, or in the version 1 tree that has the controller."""
    for line in cgroup.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        matches = number == "0" and not controllers if version2 else controller in controllers.split(",")
        if matches and path.startswith("/"):
            return path
    return None
