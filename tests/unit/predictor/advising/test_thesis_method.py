"""Runs of which the cluster's mapping, the last, may be advised."""

import msgspec

from numapredict.collect.mapping import to_label
from numapredict.predictor.advising.advice_text import kept_in_words
from numapredict.predictor.advising.search_run import Made
from numapredict.predictor.advising.thesis_method import SearchByCluster
from tests.searches import DEFAULT, LOCAL, PRIOR, Computer, answered, times


def test_the_last_run_is_the_best_only_if_its_whole_run_is_faster() -> None:
    """Its parallel regions are twice as fast, and the rest takes longer."""
    for local_s, best in ((9.0, 0), (7.0, 1)):
        computer = Computer(times(8.0, default=8.0, local=local_s), {DEFAULT: 4.0, LOCAL: 2.0})
        made = [Made(computer.run(mapping), column) for column, mapping in enumerate((DEFAULT, LOCAL))]
        assert SearchByCluster(PRIOR, PRIOR.known, made, "regions").best() == best


def test_a_faster_probe_is_named_where_the_clusters_mapping_is_not_faster() -> None:
    found = answered(Computer(times(8.0, local=4.0)))
    kept = msgspec.structs.replace(found, method="thesis", keep=True, confirmation=None)
    (told,) = kept_in_words(kept)
    assert told == f"its cluster's mapping was not faster, but a probe was: {to_label(LOCAL)} (2.00x)"
    (told,) = kept_in_words(msgspec.structs.replace(kept, runs=kept.runs[:1]))
    assert told == "its cluster's mapping was not faster"
