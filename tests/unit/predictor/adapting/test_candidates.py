"""The few mappings that a running program may try."""

import numpy as np

from numapredict.collect.mapping import parse_label
from numapredict.predictor.adapting.candidates import MOST, candidate_columns
from numapredict.predictor.adapting.places import in_place, pages_of
from numapredict.predictor.searching.known_gains import known_gains


def test_each_further_mapping_adds_most_and_none_adds_nothing() -> None:
    gains = np.array([[0.0, 1.0, 1.0, 0.0, 2.0], [0.0, 0.5, 0.0, 1.5, 2.0]])
    known = known_gains(gains, ["a", "b"])
    assert candidate_columns(known, 0, range(5)) == (0, 4)
    assert candidate_columns(known, 0, range(4)) == (0, 1, 3)
    assert candidate_columns(known, 0, [0, 2]) == (0, 2)


def test_there_are_never_more_than_the_library_has_room_for() -> None:
    gains = np.hstack([np.zeros((60, 1)), np.eye(60)])
    assert len(candidate_columns(known_gains(gains, [str(n) for n in range(60)]), 0, range(61))) == MOST


def test_pages_of_a_running_program_can_move_but_threads_only_get_fewer() -> None:
    labels = ("8x2-contiguous-locality", "8x2-contiguous-mix", "16x4-contiguous-interleave", "2x2-scatter-dataset")
    assert [in_place(parse_label(label), 8, 4) for label in labels] == [True, False, False, True]
    assert in_place(parse_label(labels[1]), 8, 2)


def test_mappings_with_their_pages_in_the_same_places_have_one_number() -> None:
    labels = (
        "8x2-contiguous-first-touch",
        "4x2-scatter-first-touch",
        "8x2-contiguous-interleave",
        "4x2-scatter-interleave",
        "8x2-contiguous-interleave@4",
        "8x2-contiguous-locality",
        "4x2-contiguous-locality",
    )
    assert pages_of([parse_label(label) for label in labels]) == [0, 0, 1, 1, 2, 3, 4]
