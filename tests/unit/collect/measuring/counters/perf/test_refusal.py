"""Why perf cannot count on a computer, and what is said to do about it."""

import errno
from pathlib import Path

import pytest

from numapredict.collect.measuring.counters.perf.refusal import refusal_of_errors
from numapredict.collect.measuring.counters.perf.source import PerfSource
from numapredict.collect.measuring.counters.source import Obstacle
from numapredict.native.errors import CounterError
from numapredict.native.library import launcher_program
from tests.shapes import shape
from tests.trees import write, write_tree

pytestmark = pytest.mark.native  # the remedies name the built launcher

PARANOID = "proc/sys/kernel/perf_event_paranoid"
UNKNOWN = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 158\nflags\t\t: fpu\n"


def obstacle(root: Path) -> Obstacle | None:
    return PerfSource(shape([2, 2]), root).obstacle()


def refusal(root: Path) -> Obstacle:
    found = obstacle(root)
    assert found is not None
    return found


@pytest.mark.parametrize("level", ["-1", "0", "1", "2"])
def test_up_to_level_two_a_user_may_count_his_programs(level: str, tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    write(root, PARANOID, f"{level}\n")
    assert obstacle(root) is None


@pytest.mark.parametrize("level", ["3", "4"])
def test_above_level_two_the_launcher_is_allowed_first(level: str, tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    write(root, PARANOID, f"{level}\n")
    found = refusal(root)
    assert found.reason == f"kernel.perf_event_paranoid is {level}: users may not count even their own programs"
    assert found.remedies == (
        f"sudo setcap cap_perfmon+ep {launcher_program()}",
        "sudo sysctl kernel.perf_event_paranoid=2",
    )


@pytest.mark.parametrize("capabilities", [1 << 38, 1 << 21, (1 << 41) - 1])
def test_a_capability_lifts_the_level(capabilities: int, tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    write(root, PARANOID, "4\n")
    write(root, "proc/self/status", f"Name:\tx\nCapEff:\t{capabilities:016x}\n")
    assert obstacle(root) is None


def test_a_kernel_without_perf_events(tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    (root / PARANOID).unlink()
    assert refusal(root).reason.startswith("this kernel has no perf events")


@pytest.mark.parametrize("text", ["", "processor\t: 0\nmodel\t: x\nvendor_id\t: A\ncpu family\t: 6\n", "\xff\n"])
def test_an_unknown_processor(text: str, tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    write(root, "proc/cpuinfo", text)
    assert refusal(root).reason == "/proc/cpuinfo does not say which processor this is"


def test_a_processor_that_is_not_known(tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    write(root, "proc/cpuinfo", UNKNOWN)
    assert refusal(root).reason == (
        "no memory events are known for this processor (GenuineIntel family 0x6 model 0x9e)"
    )
    assert refusal(root).remedies == ()  # doctor, which prints this, names the other sources itself


def test_a_virtual_machine_without_a_pmu(tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    (root / "sys/bus/event_source/devices/cpu").rename(root / "gone")
    assert "virtual machine its host must pass" in refusal(root).reason
    text = (root / "proc/cpuinfo").read_text()
    write(root, "proc/cpuinfo", text.replace(": fpu vme", ": fpu hypervisor vme"))
    assert refusal(root).reason.endswith("this is a virtual machine without a PMU")


def test_a_pmu_without_the_field_of_the_table(tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    (root / "sys/bus/event_source/devices/cpu/format/offcore_rsp").unlink()
    assert refusal(root).reason == "the PMU cpu has no field 'offcore_rsp'"


def test_an_obstacle_refuses_a_run_in_one_line(tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    write(root, PARANOID, "4\n")
    source = PerfSource(shape([2, 2]), root)
    with (
        pytest.raises(CounterError, match=r"perf: kernel\.perf_event_paranoid is 4.*; sudo setcap cap_perfmon"),
        source.counting((0,), tmp_path),
    ):
        pass


@pytest.mark.parametrize("number", [errno.EPERM, errno.EACCES, errno.ENOSYS])
def test_what_is_forbidden_though_the_level_allows_it_is_a_containers_doing(number: int, tmp_path: Path) -> None:
    root = write_tree("skylake-sp", tmp_path)
    found = refusal_of_errors([number], root)
    assert f"answers {errno.errorcode[number]} though kernel.perf_event_paranoid allows it" in found.reason
    assert "--cap-add PERFMON" in found.remedies[0]
    write(root, PARANOID, "3\n")
    assert refusal_of_errors([number], root).reason.startswith("kernel.perf_event_paranoid is 3")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EMFILE, "more events than open files"),
        (errno.EBUSY, "another tool holds the counters"),
        (errno.ENOENT, "does not offer these events"),
        (errno.EINVAL, "does not offer these events"),
        (errno.EOPNOTSUPP, "does not offer these events"),
    ],
)
def test_other_errors_have_their_own_reason(number: int, words: str, tmp_path: Path) -> None:
    assert words in refusal_of_errors([number], write_tree("zen4", tmp_path)).reason
