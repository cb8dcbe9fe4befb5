"""Measured bandwidths: found again for the same topology of the same computer, and for nothing else."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.host.known_bandwidths import keep_bandwidths, with_known_bandwidths
from numapredict.collect.topology import Bandwidths, SharedLink
from tests.shapes import shape

FOUND = Bandwidths(((9.0, 5.0), (5.0, 9.0)), ((30.0, 10.0), (10.0, 30.0)), (SharedLink(10.0, ((0, 1), (1, 0))),))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    return tmp_path


def test_they_are_found_for_the_same_topology_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    here = shape([4, 4])
    assert with_known_bandwidths(here) == here
    keep_bandwidths(here, FOUND)
    assert with_known_bandwidths(here) == msgspec.structs.replace(here, bandwidths=FOUND)
    assert with_known_bandwidths(shape([4, 2])).bandwidths is None
    monkeypatch.setenv("SLURMD_NODENAME", "another")
    assert with_known_bandwidths(here).bandwidths is None


@pytest.mark.parametrize(
    "text", ["", "{", '{"thread_GBps":[[1]],"node_GBps":[[1]]}', '{"thread_GBps":[],"node_GBps":0}']
)
def test_damaged_ones_are_none(folder: Path, text: str) -> None:
    here = shape([4, 4])
    keep_bandwidths(here, FOUND)
    (kept,) = (folder / "bandwidths").iterdir()
    kept.write_text(text)
    assert with_known_bandwidths(here) == here


def test_a_folder_that_cannot_be_made_is_no_error(folder: Path) -> None:
    (folder / "bandwidths").write_text("")
    keep_bandwidths(shape([4, 4]), FOUND)
    assert with_known_bandwidths(shape([4, 4])).bandwidths is None
