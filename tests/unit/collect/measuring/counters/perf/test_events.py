"""The exact events that are opened on each processor family, worked out by hand from the sources in events.toml.

An argument is NAME=TYPE:CONFIG:CONFIG1:CONFIG2@WHERE (native/launcher/launch.c).
"""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.measuring.counters.perf.event_table import event_table, family_of
from numapredict.collect.measuring.counters.perf.events import controller_events, core_events, core_pmu
from numapredict.collect.measuring.counters.perf.pmu import pmus_of
from numapredict.collect.measuring.counters.perf.processor import Processor, processor_of
from numapredict.native.errors import CounterError
from tests.trees import write, write_tree

PUS = (0, 1, 2, 3)


def cores(local: str, remote: str, pmu_type: int = 4) -> list[str]:
    return [f"local_lines.0={pmu_type}:{local}@task:0-3", f"remote_lines.1={pmu_type}:{remote}@task:0-3"]


def controllers(count: int, read: str, write_: str, cpus: str = "0,2") -> list[str]:
    """Return the events of so many controllers with types from 14 on: all reads before all writes."""
    return [
        f"controller_{role}.{i}.uncore_imc_{n}={14 + n}:{config}:0x0:0x0@cpu:{cpus}"
        for i, (role, config) in enumerate((("read", read), ("write", write_)))
        for n in range(count)
    ]


# Intel: umask << 8 | event in config, the offcore response in config1.
# AMD: the event's upper four bits are bits 32 to 35 of config, so channel 4's 0x107 is 0x100000007.
FABRIC = ["0x3807", "0x3847", "0x3887", "0x38c7", "0x100003807", "0x100003847", "0x100003887", "0x1000038c7"]
DATA_FABRIC = [f"controller_both.{i}.amd_df=11:{config}:0x0:0x0@cpu:0,2" for i, config in enumerate(FABRIC)]
EXPECTED = {
    "sandybridge-ep": cores("0x1b7:0x6004003f7:0x0", "0x1b7:0x67f8003f7:0x0") + controllers(4, "0x304", "0xc04"),
    "haswell-ep": cores("0x1b7:0x6004007f7:0x0", "0x1b7:0x63f8007f7:0x0") + controllers(2, "0x304", "0xc04"),
    "broadwell-ep": cores("0x1b7:0x6040007f7:0x0", "0x1b7:0x63bc007f7:0x0") + controllers(2, "0x304", "0xc04"),
    "skylake-sp": cores("0x1b7:0x6040007f7:0x0", "0x1b7:0x63b8007f7:0x0") + controllers(6, "0x304", "0xc04"),
    "ice-lake-sp": cores("0x1b7:0x104000477:0x0", "0x1b7:0x738000477:0x0") + controllers(2, "0xf04", "0x3004"),
    "sapphire-rapids": cores("0x12a:0x104004477:0x0", "0x12a:0x738004477:0x0")
    + controllers(2, "0xcf05", "0xf005", cpus="0"),
    "zen2": [
        f"{role}_lines.{i}=4:{config}:0x0:0x0@task:0-3"
        for i, (role, config) in enumerate(
            [
                *(("local", config) for config in ("0x843", "0x859", "0x85a")),
                *(("remote", config) for config in ("0x4043", "0x4059", "0x405a")),
            ]
        )
    ]
    + DATA_FABRIC,
    "zen3": cores("0x844:0x0:0x0", "0x4044:0x0:0x0") + DATA_FABRIC,
    "zen4": [
        *cores("0x844:0x0:0x0", "0x4044:0x0:0x0"),
        "controller_read.0.amd_umc_0=20:0x10a:0x0:0x0@cpu:0",
        "controller_read.0.amd_umc_1=21:0x10a:0x0:0x0@cpu:2",
        "controller_write.1.amd_umc_0=20:0x20a:0x0:0x0@cpu:0",
        "controller_write.1.amd_umc_1=21:0x20a:0x0:0x0@cpu:2",
    ],
    "zen5": cores("0x844:0x0:0x0", "0x4044:0x0:0x0"),
    "neoverse-n1": ["all_lines.0=8:0x37:0x0:0x0@task:0-3", "remote_lines.1=8:0x31:0x0:0x0@task:0-3"],
    "neoverse-v2": ["all_lines.0=8:0x37:0x0:0x0@task:0-3", "remote_lines.1=8:0x31:0x0:0x0@task:0-3"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_family_has_exactly_these_events(name: str, tmp_path: Path) -> None:
    root = write_tree(name, tmp_path)
    processor = processor_of(root)
    assert processor is not None
    family = family_of(processor)
    assert family is not None
    pmu = core_pmu(family, root)
    assert pmu is not None
    events = (*core_events(family, pmu, PUS), *controller_events(family, root))
    assert [event.launched.argument for event in events] == EXPECTED[name]
    assert [event.bytes_each for event in events] == [64.0] * len(events)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (("GenuineIntel", 6, 0x3E), "Sandy Bridge-EP, Ivy Bridge-EP"),
        (("GenuineIntel", 6, 0x6C), "Ice Lake-SP"),
        (("GenuineIntel", 6, 0xCF), "Sapphire Rapids, Emerald Rapids"),
        (("AuthenticAMD", 0x17, 0x31), "Zen 2"),
        (("AuthenticAMD", 0x19, 0x30), "Zen 3"),
        (("AuthenticAMD", 0x19, 0x50), "Zen 3"),
        (("AuthenticAMD", 0x19, 0x10), "Zen 4"),
        (("AuthenticAMD", 0x19, 0xA0), "Zen 4"),
        (("AuthenticAMD", 0x1A, 0x11), "Zen 5"),
        (("0x41", 8, 0xD49), "Neoverse N2, V2"),
        (("AuthenticAMD", 0x17, 0x01), None),  # Zen 1: its fills do not tell prefetches
        (("GenuineIntel", 6, 0x9E), None),  # a desktop has one node
        (("0x48", 8, 0xD0C), None),  # another implementer's part
    ],
)
def test_a_kind_of_processor_is_of_one_family(kind: tuple[str, int, int], name: str | None) -> None:
    family = family_of(Processor(*kind))
    assert (family.name if family else None) == name


def test_no_two_families_share_a_processor_and_every_event_has_a_source() -> None:
    claimed: dict[tuple[str, int, int], str] = {}
    for family in event_table():
        assert {"remote_lines"} < {event.role for event in family.events}
        for first, last in family.models:
            for model in range(first, last + 1):
                assert claimed.setdefault((family.vendor, family.family, model), family.name) == family.name
        for event in family.events:
            assert event.source.startswith(("x86/", "arm64/")), event


def test_the_kernels_own_name_of_an_event_goes_before_the_table(tmp_path: Path) -> None:
    root = write_tree("haswell-ep", tmp_path)
    events = "sys/bus/event_source/devices/uncore_imc_0/events/cas_count_read"
    write(root, events, "event=0x05,umask=0xcf,thresh=1\n")
    write(root, f"{events}.scale", "1.220703125e-4\n")  # 128 bytes
    event = controller_events(event_table()[1], root)[0]
    assert event.launched.configs == (0x0100CF05, 0, 0)
    assert event.bytes_each == 128.0


def test_a_kernels_name_with_another_unit_is_not_taken_for_bytes(tmp_path: Path) -> None:
    root = write_tree("haswell-ep", tmp_path)
    write(root, "sys/bus/event_source/devices/uncore_imc_0/events/cas_count_read.unit", "Joules\n")
    event = controller_events(event_table()[1], root)[0]
    assert (event.launched.configs, event.bytes_each) == ((0x304, 0, 0), 64.0)


def test_a_field_that_the_pmu_lacks_or_that_is_too_small_is_refused(tmp_path: Path) -> None:
    pmu = pmus_of(write_tree("skylake-sp", tmp_path), "cpu")[0]
    with pytest.raises(CounterError, match="the PMU cpu has no field 'rdwrmask'"):
        pmu.configs({"event": 1, "rdwrmask": 1})
    with pytest.raises(CounterError, match="umask=0x100 does not fit into 'config:8-15'"):
        pmu.configs({"umask": 0x100})


def test_cpus_are_written_as_ranges(tmp_path: Path) -> None:
    root = write_tree("zen5", tmp_path)
    family = next(family for family in event_table() if family.name == "Zen 5")
    pmu = core_pmu(family, root)
    assert pmu is not None
    event = core_events(family, pmu, (9, 0, 2, 1, 4, 1))[0]
    assert event.launched.argument.endswith("@task:0-2,4,9")
    assert msgspec.structs.replace(event.launched, cpus=()).argument.endswith("@task")
