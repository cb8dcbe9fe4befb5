"""What ships of L3 caches and hyperthreads: searches on one-node computers try the right things first."""

from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.topology import Topology
from numapredict.predictor.searching.next_run import next_run
from numapredict.predictor.searching.prior import Prior, prior_of, shipped_gains
from tests.golden.known_gains.__main__ import l3s_file
from tests.shapes import shape

TWO_NODES, EPYC = shape([16, 16]), shape([64], pus=2, l3_cores=8)


def known(topology: Topology) -> Prior:
    return prior_of("unknown", topology, Path("none"), lambda _: True, modelled=False)


@pytest.mark.parametrize("topology", [shape([4], pus=2), shape([16], pus=2), shape([16], pus=2, l3_cores=8), EPYC])
def test_with_two_threads_a_core_the_second_run_has_one(topology: Topology) -> None:
    prior, pus = known(topology), 2 * topology.core_count
    base = prior.nearest(Mapping(pus, 1, "contiguous", 1, "bind", 2), topology)
    assert str(prior.mappings[base]) == f"{pus}x1-contiguous-bind-smt2"
    following = next_run(prior.over(base), [base], [0.0])
    assert following is not None
    mapping = prior.mappings[following.column]
    assert (mapping.threads, mapping.threads_per_core) == (topology.core_count, 1)


def test_threads_over_caches_compete_where_nodes_have_several_and_nowhere_else() -> None:
    for topology, several in ((TWO_NODES, False), (shape([8]), False), (EPYC, True), (shape([8, 8], l3_cores=4), True)):
        prior = known(topology)
        assert any(mapping.thread_l3s for mapping in prior.mappings) == several
        assert ("rome" in prior.origin) == several


def test_what_needs_bandwidth_gains_most_with_its_threads_over_all_caches() -> None:
    (one_node,) = (each for each in shipped_gains(EPYC) if each.machine == "rome-1x64")
    gains = {label: one_node.gains[:, column] for column, label in enumerate(one_node.mappings)}
    streams = [row for row, group in enumerate(one_node.groups) if group in {"stream-triad", "memory-copy", "cg-axpy"}]
    packed, spread = gains["8x1-contiguous-bind"], gains["8x1-contiguous-bind-8l3"]
    assert (spread[streams] - packed[streams] > 1.0).all()  # log2: 8 threads on one die share its link
    assert np.isclose(spread, packed, atol=0.1).any()  # what computes alone does not care
    mapping = parse_label("8x1-contiguous-bind-8l3")
    assert mapping in known(EPYC).mappings
    assert l3s_file().stat().st_size < 1e6
