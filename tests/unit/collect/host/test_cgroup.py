"""Control groups: which folders hold a process's limits, from captured texts."""

from pathlib import Path

import pytest

from numapredict.collect.host.cgroup import CgroupFolder, cgroup_folders, levels
from tests.unit.collect.host.test_host import V1_CGROUP, V1_MOUNTS, V2_CGROUP, V2_MOUNTS


def test_cgroup_version_2() -> None:
    expected = CgroupFolder("/sys/fs/cgroup", "user.slice/session-1.scope", version2=True)
    assert cgroup_folders(V2_CGROUP, V2_MOUNTS) == (expected,)


def test_cgroup_version_1_with_version_2() -> None:
    folders = cgroup_folders(V1_CGROUP, V1_MOUNTS)
    assert [(folder.mount, folder.path) for folder in folders] == [
        ("/sys/fs/cgroup/cpuset", "batch/job"),
        ("/sys/fs/cgroup/unified", "."),
    ]
    assert [folder.version2 for folder in folders] == [False, True]


def test_a_containers_path_is_relative_to_what_is_mounted() -> None:
    mounts = "30 24 0:26 /docker/0a1b /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
    assert cgroup_folders("0::/docker/0a1b/step\n", mounts)[0].path == "step"
    assert cgroup_folders("0::/\n", mounts)[0].path == "."


@pytest.mark.parametrize(
    "mounts", ["", "nonsense", "1 2 3 - cgroup2", "- cgroup2 cgroup2 rw", V1_MOUNTS.split("\n", maxsplit=1)[0]]
)
def test_without_a_cgroup_there_is_no_folder(mounts: str) -> None:
    assert cgroup_folders(V2_CGROUP, mounts) == ()
    assert cgroup_folders("", V2_MOUNTS) == ()


def test_each_controller_of_version_1_has_its_own_tree() -> None:
    assert cgroup_folders(V1_CGROUP, V1_MOUNTS, "memory")[0] == CgroupFolder(
        "/sys/fs/cgroup/memory", "batch/job", version2=False
    )
    assert [folder.version2 for folder in cgroup_folders(V1_CGROUP, V1_MOUNTS, "cpu")] == [True]  # not mounted


def test_limits_are_looked_for_up_to_the_mount(tmp_path: Path) -> None:
    found = [str(place.relative_to(tmp_path)) for place in levels(tmp_path, CgroupFolder("/a/b", "c/d", version2=True))]
    assert found == ["a/b/c/d", "a/b/c", "a/b"]
