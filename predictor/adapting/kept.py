"""What `run --adapt` found for a program on this computer: the only reader and writer of the file, one a program.

A JSON object in the cache folder, named by how the program was started; used until a file that the program is made of
changes. History of the schema version: 1, the first; 2, teams of regions.
"""

import contextlib
import logging
import time
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.durable import replace_file
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.predictor.advising.circumstances import FileState, file_states, start_digest

_VERSION = 2
_SIZE_LIMIT_BYTES = 1 << 16

log = logging.getLogger(__name__)


class KeptTeam(msgspec.Struct, frozen=True):
    """A region that has tried all smaller teams, and the one to start with, such as 4x1; nothing for its own."""

    key: int
    team: str


class KeptMapping(msgspec.Struct, frozen=True, kw_only=True):
    """The mapping to start with, None for the program as it is, those that were no gain, and when (since 1970).

    ``regions``: with teams of their own, or which are to try none.
    """

    schema_version: int
    files: tuple[FileState, ...]
    mapping: str | None
    rejected: tuple[str, ...]
    regions: tuple[KeptTeam, ...]
    made_s: float


class Kept:
    """What was found for a program that is started like this; ``fresh`` forgets it."""

    def __init__(self, program: Program, topology: Topology, *, fresh: bool) -> None:
        self._path: Path = cache_folder() / "adapted" / f"{start_digest(program, topology, strict=False)}.json"
        self._files = file_states(program)
        self._program = program
        if fresh:
            with contextlib.suppress(OSError):
                self._path.unlink()
        self.found = self._read()

    def _read(self) -> KeptMapping | None:
        try:
            found = msgspec.json.decode(read_bounded(self._path, _SIZE_LIMIT_BYTES), type=KeptMapping)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            log.info(f"adapt: {self._path}: {' '.join(str(error).split())[:200]}; it begins anew")
            return None
        if found.schema_version != _VERSION or any(state not in self._files for state in found.files):
            log.info("adapt: the program or numapredict has changed since the last such run: it begins anew")
            return None
        age = in_words(max(time.time() - found.made_s, 0.0))
        smaller = sum(bool(region.team) for region in found.regions)
        teams = f", with a smaller team in {counted(smaller, 'region')}" if smaller else ""
        log.info(f"adapt: starting {found.mapping or 'as it is'}{teams}, as found {age} ago; --fresh forgets it")
        return found

    def keep(self, mapping: str | None, rejected: tuple[str, ...], regions: tuple[KeptTeam, ...]) -> bool:
        """Keep what a run found; return whether that could be done. A file that it changed does not count."""
        states = set(file_states(self._program))
        found = KeptMapping(
            schema_version=_VERSION,
            files=tuple(state for state in self._files if state in states),
            mapping=mapping,
            rejected=rejected,
            regions=regions,
            made_s=time.time(),
        )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, msgspec.json.encode(found))
        except OSError as error:
            log.info(f"adapt: not kept for the next run: {self._path}: {error.strerror or error}")
            return False
        return True
