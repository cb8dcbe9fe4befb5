"""Describing a machine by one node's row: what is taken from where."""

import msgspec
import pytest

from numapredict.collect.fidelity.mctop import MACHINES, described_by_row
from numapredict.collect.modelled.description import load_description


@pytest.mark.parametrize("name", MACHINES)
def test_only_the_first_row_is_kept(name: str) -> None:
    machine = load_description(name)
    few = described_by_row(machine)
    assert few.read_latency_ns == machine.read_latency_ns
    assert few.thread_read_GBps[0] == machine.thread_read_GBps[0]
    own = {(link.source, link.target): link.read_GBps for link in machine.links}
    of_the_row = {machine.controller_read_GBps[0], *(own[0, node] for node in range(1, len(machine.nodes)))}
    assert {*few.controller_read_GBps, *(link.read_GBps for link in few.links)} <= of_the_row
    assert [(link.source, link.target) for link in few.links] == [(link.source, link.target) for link in machine.links]


def test_nothing_of_another_row_is_seen() -> None:
    machine = load_description("lpdquad")
    twice = tuple(
        msgspec.structs.replace(link, read_GBps=2 * link.read_GBps) if link.source else link for link in machine.links
    )
    other = msgspec.structs.replace(
        machine,
        links=twice,
        controller_write_GBps=(machine.controller_write_GBps[0], 1.0, 2.0, 3.0),
        thread_write_GBps=(machine.thread_write_GBps[0], *((5.0, 6.0, 7.0, 8.0),) * 3),
    )
    assert described_by_row(other) == described_by_row(machine)


def test_the_nearest_latency_decides() -> None:
    machine = load_description("lpd48core")  # 0 is near 1, which is near 0; 0 to 2 is as far as 1 to 3
    few = described_by_row(machine)
    own = {(link.source, link.target): link.read_GBps for link in few.links}
    given = {(link.source, link.target): link.read_GBps for link in machine.links}
    assert own[2, 3] == given[0, 1]
    assert own[1, 3] in {given[0, 2], given[0, 4]}  # 262 cycles: those are 262 and 260
