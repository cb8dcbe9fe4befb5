"""An answer in a file: what `numapredict predict --json` or `variables --json` printed, or `regions -o FILE` wrote."""

import msgspec

from numapredict.collect.mapping import from_label
from numapredict.native.errors import InvalidInputError, NumapredictError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.variables.variable import Variables
from numapredict.reports.parts.advice_consistency import check_advice
from numapredict.reports.parts.replays_consistency import check_replays
from numapredict.reports.parts.topology import topology_of
from numapredict.reports.parts.variables_consistency import check_variables


class _Answer(msgspec.Struct, frozen=True):
    """The fields that distinguish the answers of `predict --json`, `variables --json` and `regions -o`."""

    answer: str = ""
    severity: str = ""
    replay_s: float | None = None


def read_answer(data: bytes, where: str) -> Advice | Variables | ReplayedRegions:
    """Return the answer in a file; InvalidInputError for anything else or contradictory values."""
    try:
        told = msgspec.json.decode(data, type=_Answer)
        if told.replay_s is not None:
            replayed = msgspec.json.decode(data, type=ReplayedRegions)
            check_replays(replayed)
            return replayed
        if told.severity:
            judged = msgspec.json.decode(data, type=Variables)
            check_variables(judged)
            return judged
        if told.answer == "unknown":
            raise InvalidInputError("the answer is unknown, so there is nothing to draw")
        advice = msgspec.json.decode(data, type=Advice, dec_hook=from_label)
        check_advice(advice, topology_of(advice.machine, advice.modelled))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NumapredictError) as error:
        raise InvalidInputError(
            f"{where}: {error}; name a file with what 'numapredict predict --json' or 'numapredict variables "
            "--json' of this version printed, or 'numapredict regions -o FILE' wrote"
        ) from error
    return advice
