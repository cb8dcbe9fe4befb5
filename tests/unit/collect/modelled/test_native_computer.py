from pathlib import Path

import pytest

from numapredict.collect.modelled import native_computer
from numapredict.collect.modelled.contention import costs_of
from numapredict.collect.modelled.native_computer import cache_sizes, measured_here
from numapredict.native.errors import NumapredictError
from tests.traces import machine_of
from tests.unit.collect.modelled.test_native_cycles import HERE


@pytest.mark.native
def test_this_computer_has_possible_figures() -> None:
    here = measured_here()
    assert here is not None
    assert here.processor
    assert 0.2 < here.frequency_GHz < 10
    assert 0.2 < here.cache_ns < here.latency_ns
    assert min(here.read_GBps, here.write_GBps) > 0.1


def test_a_computer_that_cannot_be_measured_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        kind = given[3]
        assert callable(kind)
        error = kind("measuring frequency: refused")
        assert isinstance(error, NumapredictError)
        raise error

    monkeypatch.setattr(native_computer, "tool_answer", refuse)
    monkeypatch.setattr(native_computer, "probe_program", lambda: Path("probe"))
    assert measured_here() is None


def test_the_last_two_caches_are_the_largest(tmp_path: Path) -> None:
    for number, size in enumerate(("32K\n", "32K\n", "2048K\n", "300M\n", "much\n")):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(size)
    assert cache_sizes(tmp_path) == (2 << 20, 300 << 20)
    assert cache_sizes(tmp_path / "missing") == (1 << 20, 32 << 20)


def test_it_is_described_as_one_node_with_the_caches_of_the_trace() -> None:
    machine = machine_of((4, 4))
    here = HERE.described(machine)
    assert here.private_cache == machine.private_cache
    assert (here.frequency_GHz, here.topology.core_count) == (2.0, 2)
    assert here.shared_cache.size_bytes == 1 << 20
    costs = costs_of(here)
    assert costs.line_ns.tolist() == [[[1.0, 50.0, 50.0, 0.0]]]
    assert costs.shared_hit_ns == 10.0
