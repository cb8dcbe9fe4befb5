from pathlib import Path
from shutil import which

import pytest

from numapredict.collect.measuring.samples.source import Events, PerfSamples, events_of, reason_of
from numapredict.native.errors import CounterError

needs_perf = pytest.mark.skipif(which("perf") is None, reason="perf is not installed")
DEVICES = "sys/bus/event_source/devices"
BARE = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nflags\t\t: fpu\n\n"


def computer(root: Path, *files: str, cpuinfo: str = BARE) -> Path:
    """Make a computer's file tree with PMU files that are not empty."""
    for name in files:
        file = root / DEVICES / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("event=0xcd\n")
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(cpuinfo)
    return root


KINDS = {
    "PEBS": (("cpu/events/mem-loads", "cpu/events/mem-stores"), ("cpu/mem-loads,ldlat=30,name=mem-loads/uP",)),
    "PEBS, grouped": (
        ("cpu/events/mem-loads", "cpu/events/mem-loads-aux"),
        ("{cpu/mem-loads-aux,name=leader/,cpu/mem-loads,ldlat=30,name=mem-loads/}:uP",),
    ),
    "IBS": (("ibs_op/format/cnt_ctl",), ("ibs_op/cnt_ctl=1,name=ops/",)),
    "IBS, user": (("ibs_op/format/cnt_ctl", "ibs_op/format/swfilt"), ("ibs_op/cnt_ctl=1,swfilt=1,name=ops/u",)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_events_are_those_of_the_kernel(kind: str, tmp_path: Path) -> None:
    files, words = KINDS[kind]
    events = events_of(computer(tmp_path, *files))
    assert events is not None
    assert events.words[:1] == words
    # Instructions are counted by an event of their own, or are what is sampled.
    assert (len(events.words), events.accesses == events.instructions) == ((2, False) if "PEBS" in kind else (1, True))


def test_without_events_there_is_one_reason(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "guest").mkdir()
    bare = PerfSamples(computer(tmp_path / "bare", "ibs_op/type")).obstacle()
    assert bare is not None
    assert bare.reason.endswith("(PEBS's mem-loads, IBS) of this processor")
    cpuinfo = BARE.replace("fpu", "fpu hypervisor")
    guest = PerfSamples(computer(tmp_path / "guest", cpuinfo=cpuinfo)).obstacle()
    assert guest is not None
    assert guest.reason.endswith(": this is a virtual machine")
    with pytest.raises(CounterError, match="no events"):
        PerfSamples(tmp_path / "guest").command(("true",), {}, tmp_path / "file")


def test_without_perf_a_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = PerfSamples(computer(tmp_path, "cpu/events/mem-loads")).obstacle()
    assert found is not None
    assert (found.reason, "linux-perf" in found.remedies[0]) == ("perf is not installed", True)


@needs_perf
@pytest.mark.native
def test_what_perf_refuses_is_said_in_one_line() -> None:
    found = PerfSamples(events=Events(("ibs_op/cnt_ctl=1,name=ops/",), "ops", "ops")).obstacle()
    assert found is not None
    assert found.reason.startswith("perf record: ")
    assert "\n" not in found.reason


@needs_perf
def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    source = PerfSamples(events=Events(("page-faults:u",), "page-faults", "page-faults"))
    with pytest.raises(CounterError, match="perf recorded nothing"):
        source.read(tmp_path / "none")
    for text in (b"", b"PERFILE2", b"\xff" * 5000):
        (tmp_path / "broken").write_bytes(text)
        with pytest.raises(CounterError, match=r"^perf script: ") as caught:
            source.read(tmp_path / "broken")
        assert "\n" not in str(caught.value)


def test_perfs_reason_is_its_first_line_that_is_no_heading() -> None:
    assert reason_of("\nError:\n  No permission.  \nmore\n", 255) == "No permission."
    assert reason_of("\n", 129) == "exit code 129"
