"""What resctrl's two events are set up to count: on AMD an administrator can change that, for the whole computer.

Bits of an event (filesystems/resctrl.rst, "mbm_total_bytes_config"): 0 and 1 reads, 2 and 3 writes around the caches, 4
and 5 reads of slow memory, each local and remote; 6 lines written back to any memory, which are local in no event.
"""

import re
from pathlib import Path

from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.measuring.counters.resctrl.counts import LOCAL, TOTAL

_LOCAL_ALL, _REMOTE_ALL, _WRITTEN_BACK = 0x15, 0x2A, 0x40
WRITTEN_BACK_NOTE = (
    "remote bytes include all lines that were written back, to whichever node: this processor counts them in "
    f"{TOTAL} alone"
)


def wrong_events(info: Path) -> tuple[str, ...]:
    """Return which events of ``info/L3_MON`` were set up to count something else than all local, or all, traffic."""
    wrong = []
    for event, bits, may_have in ((LOCAL, _LOCAL_ALL, 0), (TOTAL, _LOCAL_ALL | _REMOTE_ALL, _WRITTEN_BACK)):
        if any(mask & ~may_have != bits for _, mask in _masks(info / f"{event}_config")):
            wrong.append(event)
    return tuple(wrong)


def counts_written_back(info: Path) -> bool:
    """Return whether lines written back count as total, which makes all of them remote.

    Where counters are assigned (Linux 6.18), ``event_configs`` names in words what the bits say elsewhere.
    """
    words = kernel_text(info / "event_configs" / TOTAL / "event_filter")
    return "dirty_victim_writes_all" in words or any(
        mask & _WRITTEN_BACK for _, mask in _masks(info / f"{TOTAL}_config")
    )


def usual_setting(info: Path, event: str) -> str:
    """Return the text that sets an event to what it counts by default, for all of its domains."""
    bits = _LOCAL_ALL if event == LOCAL else _LOCAL_ALL | _REMOTE_ALL | _WRITTEN_BACK
    return ";".join(f"{domain}={bits:#x}" for domain, _ in _masks(info / f"{event}_config"))


def _masks(path: Path) -> list[tuple[int, int]]:
    """Return each domain's bits; none where events cannot be changed."""
    return [
        (int(domain), int(bits, 16)) for domain, bits in re.findall(r"([0-9]+)=0x([0-9a-fA-F]+)", kernel_text(path))
    ]
