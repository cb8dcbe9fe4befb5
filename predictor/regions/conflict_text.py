"""A conflict over pages in words: which regions, which arrays, and why they do not move."""

from collections.abc import Sequence

from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import counted
from numapredict.predictor.regions.chosen_plan import Conflict
from numapredict.predictor.regions.page_moves import MARGIN


def conflict_in_words(conflict: Conflict, regions: Sequence[str], arrays: Sequence[str]) -> str:
    """Return what a region would gain, who keeps its data elsewhere, and what it would cost to move them.

    ``regions`` and ``arrays`` are names, by number, those of the arrays from 1 on; none where no profile was given.
    """
    wanted = " and ".join(arrays[array - 1] for array in conflict.arrays) or "its data"
    others = " and ".join(regions[other] for other in conflict.others)
    kept = f"stay where {others} want{'' if len(conflict.others) > 1 else 's'} them" if others else "stay elsewhere"
    text = (
        f"{regions[conflict.number]} would be {conflict.speedup:.2f}x as fast with {wanted} as under "
        f"{conflict.wanted}; they {kept}"
    )
    if not arrays:
        return f"{text}; with --profile the plan could place array by array"
    if conflict.cost_s is None:
        return f"{text}; not all that it uses can be moved"
    cost, lost = seconds_in_words(conflict.cost_s), seconds_in_words(conflict.lost_s)
    return (
        f"{text}; to move them for it, {counted(round(conflict.times), 'time')}, would not pay: it takes {cost} for "
        f"{lost}, and should gain {MARGIN:g} times what it costs"
    )
