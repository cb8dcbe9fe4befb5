"""The settings of the preload library: the variable NUMAPLACE, and the rest of its environment.

The contract of the variable is native/placement/process/settings.h; this is its only writer.
"""

import itertools
import os
import string
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Variables
from pathlib import Path

import msgspec

from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import SHORTEST_ROW, applied, reach
from numapredict.collect.placing.variables import CONFLICTING, thread_counts

VARIABLE = "NUMAPLACE"
_VERSION = 1
_PLAIN = frozenset((string.ascii_letters + string.digits + "/._-+").encode())


class PlacementFiles(msgspec.Struct, frozen=True):
    """The absolute paths of the files that the library reads and writes; None where not requested.

    It reads ``plan`` and ``adapt``, a table of mappings. In ``claims`` processes say which PUs they have (claims.py);
    without it each has those it asks for. ``work``: the report lists how much of their time the threads
    worked in the first instances of each region. ``forks``: forked children are in report and map, too.
    """

    plan: str | None = None
    report: str | None = None
    profile: str | None = None
    map: str | None = None
    adapt: str | None = None
    claims: str | None = None
    work: bool = False
    forks: bool = False


def processes_files(path: Path) -> Iterator[Path]:
    """Return the files that the processes of a run wrote where `report` or `profile` names one: PATH, PATH.2 ..."""
    for number in itertools.count(1):
        one = path if number == 1 else path.with_name(f"{path.name}.{number}")
        if not one.exists():
            return
        yield one


def settings_text(placement: Placement, files: PlacementFiles | None = None, *, launcher: bool = False) -> str:
    """Return the value of NUMAPLACE for a placement; nodes and PUs are the operating system's.

    ``launcher``: the program only starts ranks, and is not placed itself.
    """
    nearest = applied(placement)
    mapping, facts = nearest.mapping, FACTS[nearest.mapping.page_policy]
    nodes = nearest.os_page_nodes
    if facts.decided_by == "weights":
        nodes = tuple(dict.fromkeys(nearest.os_indices(nearest.chunks)))
    pairs = [
        ("version", str(_VERSION)),
        ("cpus", number_list(nearest.pus)),
        ("homes", number_list(nearest.os_indices(nearest.homes))),
        ("threads", mapping.thread_policy),
        ("pages", mapping.page_policy),
        # The kernel interleaves in ascending order; the preferred node has no effect.
        ("nodes", number_list(sorted(nodes) if facts.kernel == "interleave" else nodes)),
    ]
    if facts.decided_by in {"chunk", "weights"}:
        pairs.append(("chunks", number_list(nearest.os_indices(nearest.chunks))))
    if placement.ranks:
        pairs.append(("ranks", str(placement.ranks)))
    if launcher or placement.ranks > 1:
        pairs.append(("launcher", "1"))
    paths = msgspec.structs.asdict(files or PlacementFiles())
    pairs += [(key, "1") for key in ("work", "forks") if paths.pop(key)]
    pairs += [(key, escaped(path)) for key, path in paths.items() if path is not None]
    return ";".join(f"{key}={value}" for key, value in pairs)


def preload_environment(
    caller: Variables[str, str],
    placement: Placement,
    library: str,
    files: PlacementFiles | None = None,
    *,
    launcher: bool = False,
) -> dict[str, str]:
    """Return all variables of a run under the library; it binds the threads, so the runtime must not.

    The caller's LD_PRELOAD stays, after the library.
    """
    environment = {name: value for name, value in caller.items() if name not in (*CONFLICTING, "OMP_PLACES")}
    own = [path for path in caller.get("LD_PRELOAD", "").replace(" ", ":").split(":") if path and path != library]
    environment |= {
        "LD_PRELOAD": ":".join([library, *own]),
        VARIABLE: settings_text(placement, files, launcher=launcher),
        "OMP_NUM_THREADS": thread_counts(placement.mapping.threads, caller.get("OMP_NUM_THREADS")),
        "OMP_DYNAMIC": "false",
        "OMP_PROC_BIND": "false",
    }
    return environment


def adapting_environment(
    caller: Variables[str, str], base: Placement, library: str, files: PlacementFiles
) -> dict[str, str]:
    """Return all variables of a run that begins as the caller would start it, on all PUs of ``base``."""
    own = [path for path in caller.get("LD_PRELOAD", "").replace(" ", ":").split(":") if path and path != library]
    return {**caller, "LD_PRELOAD": ":".join([library, *own]), VARIABLE: settings_text(base, files)}


def number_list(numbers: Iterable[int]) -> str:
    """Return numbers in their order as the library reads them, with ranges `0-3` and repetitions `0*8`."""
    row = list(numbers)
    parts = []
    at = 0
    while at < len(row):
        same = reach(row, at, 0)
        rising = reach(row, at, 1)
        if same >= 2 and same >= rising:
            parts.append(f"{row[at]}*{same}")
            at += same
        elif rising >= SHORTEST_ROW:
            parts.append(f"{row[at]}-{row[at + rising - 1]}")
            at += rising
        else:
            parts.append(str(row[at]))
            at += 1
    return ",".join(parts)


def escaped(path: str) -> str:
    """Return a path with every byte that is not plain written as %XX."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(path))
