"""An answer on a program's regions in a file: what `numapredict regions -o FILE` wrote."""

import sys
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.durable import reason_and_advice
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.learning.store import SIZE_LIMIT_BYTES
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.reports.parts.replays_consistency import check_replays

STANDARD_INPUT = "-"


def open_replays(name: str) -> ReplayedRegions:
    """Return the answer in a file, or from standard input (`-`); InvalidInputError for anything else."""
    if name == STANDARD_INPUT:
        return read_replays(sys.stdin.buffer.read(SIZE_LIMIT_BYTES), "standard input")
    try:
        data = read_bounded(Path(name), SIZE_LIMIT_BYTES)
    except OSError as error:
        raise InvalidInputError(f"cannot read {name}: {reason_and_advice(error)}") from error
    return read_replays(data, name)


def read_replays(data: bytes, where: str) -> ReplayedRegions:
    """Return the answer that a file holds; raises InvalidInputError with one line."""
    try:
        answer = msgspec.json.decode(data, type=ReplayedRegions)
        check_replays(answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidInputError) as error:
        raise InvalidInputError(
            f"{where} is no answer on regions ({error}): name a file that 'numapredict regions -o FILE' of this "
            "version wrote"
        ) from error
    return answer
