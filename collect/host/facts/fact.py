"""One fact of a computer."""

import msgspec


class Fact(msgspec.Struct, frozen=True):
    """What a computer's files say of one thing, and whether that disturbs measuring.

    ``why`` says in a clause how it matters, ``remedy`` is the command that changes it, or what else to do.
    """

    name: str
    value: str
    disturbs: bool = False
    why: str = ""
    remedy: str = ""


UNKNOWN = "unknown"
