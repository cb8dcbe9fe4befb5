"""One fact of a computer."""

import msgspec


class Fact(msgspec.Struct, frozen=True):
    """One property of a computer, read from its files, and whether it disturbs measurements.

    ``why`` gives the effect in a clause; ``remedy`` is the command that changes it, or other advice.
    """

    name: str
    value: str
    disturbs: bool = False
    why: str = ""
    remedy: str = ""


UNKNOWN = "unknown"
