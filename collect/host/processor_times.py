"""How long each PU was busy, by the kernel's count: `/proc/stat` (proc_stat(5))."""

import os
import re

import msgspec

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
"""The length of a tick of the kernel's processor times, in seconds."""

_COLUMNS = 8
_NAME = re.compile(r"cpu([0-9]{1,5})")


class Ticks(msgspec.Struct, frozen=True):
    """One PU's ticks since the computer started; what guests used is in ``user`` and ``nice``."""

    user: int
    nice: int
    system: int
    idle: int
    waiting: int
    interrupts: int
    soft_interrupts: int
    stolen: int

    @property
    def busy(self) -> int:
        """Return the ticks in which something ran here; time stolen by a hypervisor does not count."""
        return self.user + self.nice + self.system + self.interrupts + self.soft_interrupts


def ticks_by_pu(text: str) -> dict[int, Ticks]:
    """Return each PU's ticks by the text of /proc/stat; lines of another form are left out."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        name = _NAME.fullmatch(words[0]) if words else None
        if name and len(words) > _COLUMNS and all(word.isdigit() for word in words[1 : _COLUMNS + 1]):
            found[int(name[1])] = Ticks(*map(int, words[1 : _COLUMNS + 1]))
    return found
