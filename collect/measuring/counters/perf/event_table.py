"""The table of events in events.toml: which events to count on which processor."""

import functools
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from numapredict.collect.measuring.counters.perf.processor import Processor

_TABLE = Path(__file__).with_name("events.toml")

Role = Literal["local_lines", "remote_lines", "all_lines", "controller_read", "controller_write", "controller_both"]
"""What an event counts: lines of 64 bytes from memory of the node, of another or of any; or a controller's traffic."""


class TableEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event; several with one role are added up.

    ``pmu`` is a pattern of the names in /sys/bus/event_source/devices; ``fields`` are set as the PMU's ``format``
    folder says; ``alias`` is a file in its ``events`` folder that takes precedence, with its scale and unit.
    """

    role: Role
    pmu: str
    fields: dict[str, int]
    source: str
    alias: str = ""


class Family(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Processors with the same events; ``models`` are inclusive ranges. ``misses`` is what no event counts."""

    name: str
    vendor: str
    family: int
    models: tuple[tuple[int, int], ...]
    misses: str
    events: Annotated[tuple[TableEvent, ...], msgspec.Meta(min_length=2)]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    family: tuple[Family, ...]


@functools.cache
def event_table() -> tuple[Family, ...]:
    """Return all families of the table."""
    return msgspec.convert(tomllib.loads(_TABLE.read_text(encoding="utf-8")), _Table).family


def family_of(processor: Processor) -> Family | None:
    """Return the family of a processor, or None where the table does not have it."""
    for family in event_table():
        if (family.vendor, family.family) == (processor.vendor, processor.family) and any(
            first <= processor.model <= last for first, last in family.models
        ):
            return family
    return None
