import platform
from pathlib import Path

import pytest

from numapredict.collect import environment


def test_memory_settings_are_read_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    balancing, huge = tmp_path / "balancing", tmp_path / "huge"
    monkeypatch.setattr(environment, "NUMA_BALANCING", balancing)
    monkeypatch.setattr(environment, "_HUGE_PAGES", huge)
    assert dict(environment.memory_settings()) == {
        "numa_balancing": "not in this kernel",
        "transparent_hugepage": "not in this kernel",
    }
    balancing.write_text("1\n")
    huge.write_text("always [madvise] never\n")
    assert dict(environment.memory_settings()) == {"numa_balancing": "on", "transparent_hugepage": "madvise"}
    balancing.write_text("2\n")  # tiering mode
    assert dict(environment.memory_settings())["numa_balancing"] == "2"


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
def test_an_emulated_computer_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vendor: str | None, clocks: str, expected: str
) -> None:
    monkeypatch.setattr(environment, "_VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(environment, "_CLOCKS", tmp_path / "clocks")
    if vendor is not None:
        (tmp_path / "vendor").write_text(vendor + "\n")
    (tmp_path / "clocks").write_text(clocks + "\n")
    assert environment.emulation() == expected
