import platform
from pathlib import Path

import pytest

from numapredict.collect.host import environment
from tests.planted_files import plant


def test_memory_settings_are_read_in_words(tmp_path: Path) -> None:
    balancing = tmp_path / "proc/sys/kernel/numa_balancing"
    huge = tmp_path / "sys/kernel/mm/transparent_hugepage/enabled"
    assert dict(environment.memory_settings(tmp_path)) == {
        "numa_balancing": "not in this kernel",
        "transparent_hugepage": "not in this kernel",
    }
    for path in (balancing, huge):
        path.parent.mkdir(parents=True)
    balancing.write_text("1\n")
    huge.write_text("always [madvise] never\n")
    assert dict(environment.memory_settings(tmp_path)) == {"numa_balancing": "on", "transparent_hugepage": "madvise"}
    balancing.write_text("2\n")  # tiering mode
    assert dict(environment.memory_settings(tmp_path))["numa_balancing"] == "2"


def test_the_environment_is_words_and_names_no_computer() -> None:
    found = dict(environment.host_environment())
    assert found["kernel"] == f"Linux {platform.release()}"
    assert all(value and "\n" not in value for value in found.values())
    assert platform.node() not in found.values()


@pytest.mark.parametrize(
    ("vendor", "clocks", "expected"),
    [
        ("QEMU", "tsc hpet acpi_pm", "QEMU"),
        ("QEMU", "kvm-clock tsc acpi_pm", ""),
        ("Dell Inc.", "tsc hpet acpi_pm", ""),
        (None, "tsc", ""),
    ],
)
def test_an_emulated_computer_is_known(tmp_path: Path, vendor: str | None, clocks: str, expected: str) -> None:
    if vendor is not None:
        plant(tmp_path, {"sys/class/dmi/id/sys_vendor": vendor + "\n"})
    plant(tmp_path, {"sys/devices/system/clocksource/clocksource0/available_clocksource": clocks + "\n"})
    assert environment.emulation(tmp_path) == expected
