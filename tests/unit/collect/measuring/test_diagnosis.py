import json
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.host import cache
from numapredict.collect.measuring.counters.calibration import Examined, read_calibrations
from numapredict.collect.measuring.counters.source import Obstacle
from numapredict.collect.measuring.counters.verdict import Verdict
from numapredict.collect.measuring.diagnosis import diagnose, diagnosis_in_words
from tests.samples import topology_of


class Absent:
    name = "absent"

    def obstacle(self) -> Obstacle | None:
        return Obstacle("it is not installed", ("sudo apt-get install absent", "or ask an administrator"))


def test_what_stands_in_the_way_is_named_with_its_remedies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: list[str]
) -> None:
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path))
    found = diagnose(topology_of(), [Absent()])  # type: ignore[list-item]
    assert found.counters is None
    assert said == []
    lines = diagnosis_in_words(found).splitlines()
    at = lines.index("  absent   cannot count here: it is not installed")
    assert [line.strip() for line in lines[at + 1 : at + 3]] == [
        "-> sudo apt-get install absent",
        "-> or ask an administrator",
    ]
    assert lines[-1] == "measurements here use no counters: run times, and samples of which thread touches which page"
    assert any(line.lstrip("! ").startswith("NUMA balancing") for line in lines)
    assert json.loads(msgspec.json.encode(found))["sources"][0]["obstacle"]["reason"] == "it is not installed"
    assert read_calibrations(tmp_path, topology_of()) == ()


def test_verdicts_are_put_into_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path))
    good = Verdict(passed=True, factor=2.0, remote_tested=True, controllers=1.5)
    alone = Verdict(passed=True, factor=1.0, remote_tested=False)
    wrong = Verdict(passed=False, factor=1.0, remote_tested=True, reasons=("it counts nothing", "it counts 9%"))
    base = diagnose(topology_of(), [])
    samples = Examined(name="samples", verdict=msgspec.structs.replace(good, controllers=None))
    sources = (
        Examined(name="wrong", verdict=wrong),
        Examined(name="failed", failure="it broke"),
        Examined(name="good", verdict=good),
        Examined(name="alone", verdict=alone),
    )
    said = diagnosis_in_words(
        msgspec.structs.replace(base, sources=sources, counters="good", memory_samples=samples)
    ).splitlines()
    at = said.index("counters")
    assert [line.strip() for line in said[at + 1 :]] == [
        "wrong    failed: it counts nothing",
        "and it counts 9%",
        "failed   failed: it broke",
        "good     passed: it counts 2.00 bytes for each one moved, tested by local and remote loads",
        "its memory controllers count 1.50 bytes for each one moved",
        "alone    passed: it counts 1.00 bytes for each one moved, "
        "tested by a local load (there is no remote node here)",
        "",
        "samples of memory accesses, for numapredict variables",
        "samples  passed: it tells what served loads, tested by local and remote loads",
        "",
        "measurements here use good",
    ]
