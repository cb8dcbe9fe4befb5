from dataclasses import replace

from numapredict.predictor.regions.application_plan import Conflict
from numapredict.predictor.regions.conflict_text import conflict_in_words

REGIONS = ("solve, a.c:5", "sweep, a.c:9", "sum, a.c:12")
CONFLICT = Conflict(0, "8x2-contiguous-interleave", 1.5, (2,), (1, 2), lost_s=1.0, phases=10)


def test_regions_and_arrays_are_named() -> None:
    text = conflict_in_words(CONFLICT, REGIONS, ("a", "b"), 0)
    assert text == (
        "solve, a.c:5 would be 1.50x as fast with b as under 8x2-contiguous-interleave; they stay where sweep, a.c:9, "
        "sum, a.c:12 want them"
    )
    assert "stay where sweep, a.c:9 wants them" in conflict_in_words(
        replace(CONFLICT, others=(1,)), REGIONS, ("a", "b"), 0
    )
    alone = conflict_in_words(replace(CONFLICT, arrays=(), others=()), REGIONS, (), 0)
    assert "with its data as under" in alone
    assert alone.endswith("they stay elsewhere; with --profile the plan could place array by array")


def test_moving_pays_where_it_gains_over_twice_its_cost() -> None:
    def text(pages: int) -> str:
        return conflict_in_words(CONFLICT, REGIONS, ("a", "b"), pages)

    assert "10 times there and back at most, would pay, but no plan moves pages: 496.00 ms for 1.00 s" in text(6200)
    assert "would not pay" in text(6300)
