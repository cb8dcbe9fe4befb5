"""Shards: the parts of a campaign that run on different nodes, and the names of their journals."""

import hashlib
import re
from collections.abc import Sequence

import msgspec

from numapredict.collect.program import Program
from numapredict.native.errors import UsageError


class Shard(msgspec.Struct, frozen=True, order=True):
    """Part ``number``, from 0, of ``count``."""

    number: int
    count: int

    def __post_init__(self) -> None:
        """Raise UsageError where there is no such part."""
        if not 0 <= self.number < self.count:
            raise UsageError(
                f"--shard {self.number}: of {self.count} shards the first is 0 and the last is {self.count - 1}"
            )

    def __str__(self) -> str:
        """Return it in words."""
        return f"shard {self.number} of {self.count}"

    def programs_of(self, programs: Sequence[Program]) -> tuple[Program, ...]:
        """Return this shard's programs, in their order.

        They are handed out in the order of a digest of their names: the shards hold as many programs each, give or take
        one, and neighbours in a list, which often take similarly long, are spread.
        """
        dealt = sorted(range(len(programs)), key=lambda number: (_digest(programs[number].name), number))
        return tuple(programs[number] for number in sorted(dealt[self.number :: self.count]))


class JournalName(msgspec.Struct, frozen=True):
    """What the name of a shard's journal says: the shard, the kind of machine, the node, and the start.

    A node that starts a shard again begins another journal: ``start`` is the time, and a number that nobody else has.
    """

    shard: Shard
    fingerprint: str
    node: str
    start: str

    @property
    def file(self) -> str:
        """Return the file's name."""
        return f"{self.shard.number}-of-{self.shard.count}.{self.fingerprint}.{self.node}.{self.start}.jsonl"


_NAME = re.compile(r"([0-9]{1,6})-of-([0-9]{1,6})\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)\.([0-9a-fTZ-]+)\.jsonl")


def journal_named(file: str) -> JournalName | None:
    """Return what a file's name says, or None where it is not the name of a shard's journal."""
    found = _NAME.fullmatch(file)
    if found is None or int(found[1]) >= int(found[2]):
        return None
    return JournalName(Shard(int(found[1]), int(found[2])), found[3], found[4], found[5])


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode(errors="surrogateescape")).digest()
