"""An answer in a file: what `numapredict predict --json` printed, advised by a model or searched."""

import msgspec

from numapredict.collect.mapping import from_label
from numapredict.native.errors import InvalidInputError, NumapredictError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.searched import Searched
from numapredict.reports.parts.consistency import check_consistency
from numapredict.reports.parts.search_consistency import check_search
from numapredict.reports.parts.topology import topology_of


class _Answer(msgspec.Struct, frozen=True):
    """The field that distinguishes the answers of `predict --json`."""

    answer: str = ""


def read_answer(data: bytes, where: str) -> Advice | Searched:
    """Return the answer in a file; InvalidInputError for anything else or contradictory values."""
    try:
        kind = msgspec.json.decode(data, type=_Answer).answer
        if kind == "unknown":
            raise InvalidInputError("the answer is unknown, so there is nothing to draw")
        if kind == "searched":
            found = msgspec.json.decode(data, type=Searched, dec_hook=from_label)
            check_search(found, topology_of(found.machine, found.modelled))
            return found
        advice = msgspec.json.decode(data, type=Advice, dec_hook=from_label)
        check_consistency(advice, topology_of(advice.machine, advice.modelled))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NumapredictError) as error:
        raise InvalidInputError(
            f"{where}: {error}; name a file with what 'numapredict predict --json' of this version printed"
        ) from error
    return advice
