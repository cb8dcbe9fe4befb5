"""The launcher's counts; the only reader of its file, whose format is described in native/launcher/counters.h."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.native.errors import CounterError

_Natural = Annotated[int, msgspec.Meta(ge=0)]


class EventCount(msgspec.Struct, frozen=True):
    """One event on one CPU, or on all CPUs that the program used where ``cpu`` is None.

    ``running_ns`` is the time in which the event was actually counted, ``enabled_ns`` that in which it should have
    been; the latter means nothing for a program's event on one CPU (events.py). Where ``errno`` is not 0 the event
    could not be counted and no figure is valid. ``user_only`` counts exclude the kernel's work for the program.
    """

    event: str
    cpu: _Natural | None = None
    value: _Natural = 0
    enabled_ns: _Natural = 0
    running_ns: _Natural = 0
    user_only: bool = False
    errno: _Natural = 0


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    counts: tuple[EventCount, ...]


def read_counts(file: Path) -> tuple[EventCount, ...]:
    """Return the launcher's counts; raise CounterError where its file is missing or malformed."""
    try:
        return msgspec.json.decode(read_bounded(file, MIB), type=_File).counts
    except OSError as error:
        raise CounterError(f"the counts in {file} cannot be read: {error.strerror}; run again") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CounterError(
            f"the counts in {file} are no whole file of numapredict-launch ({error}); was it killed? run again"
        ) from error
