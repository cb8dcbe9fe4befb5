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
