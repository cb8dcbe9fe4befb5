from dataclasses import replace

from numapredict.predictor.regions.chosen_plan import Conflict
from numapredict.predictor.regions.conflict_text import conflict_in_words

REGIONS = ("solve, a.c:5", "sweep, a.c:9", "sum, a.c:12")
CONFLICT = Conflict(0, "8x2-contiguous-interleave", 1.5, (2,), (1, 2), lost_s=1.0, times=20.0, cost_s=0.75)


def test_regions_and_arrays_are_named_and_what_moves_would_cost() -> None:
    assert conflict_in_words(CONFLICT, REGIONS, ("a", "b")) == (
        "solve, a.c:5 would be 1.50x as fast with b as under 8x2-contiguous-interleave; they stay where sweep, a.c:9 "
        "and sum, a.c:12 want them; to move them for it, 20 times, would not pay: it takes 750.00 ms for 1.00 s, and "
        "should gain 2 times what it costs"
    )
    assert "stay where sweep, a.c:9 wants them" in conflict_in_words(
        replace(CONFLICT, others=(1,)), REGIONS, ("a", "b")
    )


def test_what_cannot_move_is_said() -> None:
    fixed = conflict_in_words(replace(CONFLICT, cost_s=None), REGIONS, ("a", "b"))
    assert fixed.endswith("want them; not all that it uses can be moved")
    alone = conflict_in_words(replace(CONFLICT, arrays=(), others=()), REGIONS, ())
    assert "with its data as under" in alone
    assert alone.endswith("they stay elsewhere; with --profile the plan could place array by array")
