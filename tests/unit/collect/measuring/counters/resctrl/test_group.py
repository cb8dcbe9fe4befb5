"""Monitoring groups: each run's own, removed however it ends, and what a killed run left found and removed."""

import errno
import os
from pathlib import Path

import pytest

from numapredict.collect.measuring.counters.resctrl.group import (
    KernelFolders,
    maker_of,
    monitoring_group,
    remove_leftovers,
    this_maker,
)
from numapredict.native.errors import CounterError
from tests.planted_files import plant
from tests.resctrl import FakeKernel

TREE = "intel-2-sockets"
SPACE, PID, TICKS = 4026531836, 4711, 8899  # this process in the tree


def dead(kernel: FakeKernel, name: str, tasks: str = "") -> str:
    plant(kernel.resctrl / "mon_groups", {f"{name}/tasks": tasks})
    return name


def left(kernel: FakeKernel) -> tuple[str, ...]:
    return remove_leftovers(kernel.resctrl / "mon_groups", kernel.root, kernel)


def test_the_maker_is_this_process(tmp_path: Path) -> None:
    FakeKernel(TREE, tmp_path)
    maker = this_maker(tmp_path)
    assert (maker.namespace, maker.pid, maker.start_ticks) == (SPACE, PID, TICKS)
    assert maker_of(maker.name(3)) == maker
    real = this_maker(Path("/"))
    assert real.pid == os.getpid()
    assert real.start_ticks > 0
    assert f"pid:[{real.namespace}]" == os.readlink("/proc/self/ns/pid")


@pytest.mark.parametrize("end", [None, RuntimeError("broken"), KeyboardInterrupt(), SystemExit(3)])
def test_a_group_is_gone_however_the_run_ends(tmp_path: Path, end: BaseException | None) -> None:
    kernel = FakeKernel(TREE, tmp_path)

    def run() -> None:
        with monitoring_group(kernel.resctrl, tmp_path, kernel) as group:
            assert kernel.groups == [group.name]
            if end is not None:
                raise end

    if end is None:
        run()
    else:
        with pytest.raises(type(end)):
            run()
    assert kernel.groups == []


def test_two_runs_of_one_process_have_a_group_each(tmp_path: Path) -> None:
    kernel = FakeKernel(TREE, tmp_path)
    with (
        monitoring_group(kernel.resctrl, tmp_path, kernel) as one,
        monitoring_group(kernel.resctrl, tmp_path, kernel) as other,
    ):
        assert one != other
        assert len(kernel.groups) == 2
    assert kernel.groups == []


def test_a_group_that_somebody_has_removed_is_removed(tmp_path: Path) -> None:
    kernel = FakeKernel(TREE, tmp_path)
    with monitoring_group(kernel.resctrl, tmp_path, kernel) as group:
        kernel.remove(group)
    assert kernel.groups == []


class Stubborn(FakeKernel):
    """Does not remove a group."""

    def remove(self, path: Path) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))


def test_a_group_that_stays_is_named_with_the_command(tmp_path: Path) -> None:
    kernel = Stubborn(TREE, tmp_path)
    with pytest.raises(CounterError, match=r"could not be removed: .* busy; sudo rmdir /"):  # noqa: SIM117
        with monitoring_group(kernel.resctrl, tmp_path, kernel):
            pass


def test_a_group_that_stays_does_not_hide_why_the_run_failed(tmp_path: Path) -> None:
    kernel = Stubborn(TREE, tmp_path)
    with pytest.raises(RuntimeError, match="broken") as error:  # noqa: SIM117
        with monitoring_group(kernel.resctrl, tmp_path, kernel):
            raise RuntimeError("broken")
    assert "sudo rmdir" in error.value.__notes__[0]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    kernel = FakeKernel(TREE, tmp_path)
    ended = dead(kernel, f"numapredict-{SPACE}-4000-100-0")
    later_process = dead(kernel, f"numapredict-{SPACE}-{PID}-{TICKS - 1}-0")  # its number was given to us since
    with monitoring_group(kernel.resctrl, tmp_path, kernel) as group:
        assert kernel.groups == [group.name]
    assert ended not in kernel.groups
    assert later_process not in kernel.groups


def test_what_is_not_ours_or_in_use_stays(tmp_path: Path) -> None:
    kernel = FakeKernel(TREE, tmp_path)
    stays = [
        dead(kernel, f"numapredict-{SPACE}-{PID}-{TICKS}-7"),  # of a run of this very process
        dead(kernel, f"numapredict-{SPACE}-4000-100-1", "900\n"),  # a child of a killed run still works
        dead(kernel, f"numapredict-{SPACE + 1}-4000-100-0"),  # of another container, whose processes are not seen here
        dead(kernel, "numapredict-mine"),
        dead(kernel, "somebody"),
    ]
    assert left(kernel) == ()
    assert kernel.groups == sorted(stays)


def test_what_another_user_left_is_no_error(tmp_path: Path) -> None:
    kernel = Stubborn(TREE, tmp_path)
    dead(kernel, f"numapredict-{SPACE}-4000-100-0")
    assert left(kernel) == ()


def test_the_kernels_folders_are_made_and_removed_as_such(tmp_path: Path) -> None:
    KernelFolders().make(tmp_path / "group")
    assert (tmp_path / "group").is_dir()
    KernelFolders().remove(tmp_path / "group")
    assert not (tmp_path / "group").exists()
