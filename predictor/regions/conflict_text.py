"""A conflict over pages in words: which regions, which arrays, and whether moving them in each phase would pay."""

from collections.abc import Sequence

from numapredict.collect.terminal.printable import counted
from numapredict.predictor.advising.advice import seconds_in_words
from numapredict.predictor.regions.application_plan import Conflict

MOVE_S = 4e-6
"""A page's move: what its copy costs in a replay."""


def conflict_in_words(conflict: Conflict, regions: Sequence[str], arrays: Sequence[str], pages: int) -> str:
    """Return what a region would gain, who keeps its data elsewhere, and whether moving these ``pages`` would pay.

    ``regions`` and ``arrays`` are names, by number, those of the arrays from 1 on; none where no profile was given.
    Moving pays where it gains more than twice its cost.
    """
    wanted = ", ".join(arrays[array - 1] for array in conflict.arrays) or "its data"
    others = ", ".join(regions[other] for other in conflict.others)
    kept = f"stay where {others} want{'' if len(conflict.others) > 1 else 's'} them" if others else "stay elsewhere"
    text = (
        f"{regions[conflict.number]} would be {conflict.speedup:.2f}x as fast with {wanted} as under "
        f"{conflict.wanted}; they {kept}"
    )
    if not arrays:
        return f"{text}; with --profile the plan could place array by array"
    if not pages:
        return text
    moves_s = 2 * pages * conflict.phases * MOVE_S
    pays = "would pay, but no plan moves pages" if conflict.lost_s > 2 * moves_s else "would not pay"
    return (
        f"{text}; to move them for it, {counted(conflict.phases, 'time')} there and back at most, {pays}: "
        f"{seconds_in_words(moves_s)} for {seconds_in_words(conflict.lost_s)}"
    )
