"""Regions on described machines, as the published run times have them."""

import pytest

from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.libgomp import comparisons, thread_nodes


def test_a_team_is_spread_as_it_says() -> None:
    assert thread_nodes((2, 0, 3)) == (0, 0, 2, 2, 2)


def test_every_published_region_is_met_by_the_shipped_descriptions() -> None:
    first, second = comparisons(Bench())
    assert (first.machine, second.machine) == ("cascadelake-2x28", "rome-2x64")
    one_socket, two_sockets = first.claims
    assert one_socket.quantity == "a region of 28 threads on 1 node"
    assert one_socket.modelled == pytest.approx(3.74, rel=0.01)  # the description has this team
    assert two_sockets.modelled > 2 * one_socket.modelled
    assert all(claim.met and not claim.given for claim in (*first.claims, *second.claims))
