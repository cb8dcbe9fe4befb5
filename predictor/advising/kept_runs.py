"""Kept runs: the only reader and writer of the runs of searches on this computer, from which a later search goes on.

A file is one JSON object in the cache folder, written anew after each run, read with types and without running code. It
is named by how the program was started and by the boot of the computer, and used until its first run is a day old or a
file that the program is made of changes. History of the schema version:

1. the first: the program's command, the files that must not change, and runs with measurement, limit and time.
"""

import contextlib
import hashlib
import logging
import math
import time
from pathlib import Path

import msgspec

from numapredict.collect.data.measurement_fault import fault_of
from numapredict.collect.figure import TIME, Figure
from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.cache import cache_folder, unwritable
from numapredict.collect.host.durable import replace_file
from numapredict.collect.host.kernel_file import kernel_line
from numapredict.collect.mapping import from_label, to_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import command_line, counted, printable
from numapredict.collect.topology import Topology
from numapredict.predictor.advising.circumstances import FileState, file_states, start_digest

SCHEMA_VERSION = 1

SIZE_LIMIT_BYTES = 16 << 20
"""A run takes about 1 kB, and 60 at most with 200 parallel regions."""

LIFE_S = 86_400.0
"""A computer's load and clock rates change within hours: runs older than a day are not compared with new ones."""

_FORGOTTEN_S = 7 * LIFE_S
_BOOT = Path("/proc/sys/kernel/random/boot_id")

log = logging.getLogger(__name__)


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run, when it had ended (seconds since 1970), and its limit in seconds, None if it was not to be ended."""

    measurement: Measurement
    made_s: float
    limit_s: float | None

    @property
    def ended(self) -> bool:
        """Return whether it was ended for having taken as long as the best."""
        return self.measurement.status == "timeout" and self.limit_s is not None


class KeptFile(msgspec.Struct, frozen=True, kw_only=True):
    """A program's kept runs, and the files that must not change while they are used."""

    schema_version: int
    program: str
    files: tuple[FileState, ...]
    runs: tuple[KeptRun, ...]


class _Named(msgspec.Struct, frozen=True):
    program: str


class KeptRuns:
    """The runs of a program that may be compared with those to be made now, the first of them as it is.

    ``runs`` are those that earlier commands made, without ended ones unless runs are to be ``cut``, and those that
    ``add`` has entered. ``fresh``: the earlier ones are forgotten. Runs compared by another ``figure`` are apart.
    """

    def __init__(
        self,
        program: Program,
        topology: Topology,
        *,
        strict: bool = False,
        cut: bool = True,
        fresh: bool = False,
        figure: Figure = TIME,
    ) -> None:
        boot = hashlib.sha256(kernel_line(_BOOT).encode()).hexdigest()[:8]
        self._start, self._figure = start_digest(program, topology, strict, figure), figure
        self._program, self._nodes = program, len(topology.nodes)
        self._named = printable(command_line(program.command))
        self._path: Path | None = cache_folder() / "searches" / f"{self._start}-{boot}.json"
        self._before = self._files = file_states(program)
        self.runs: tuple[KeptRun, ...] = ()
        self._ended: tuple[KeptRun, ...] = ()  # they stay in the file
        if fresh:
            with contextlib.suppress(OSError):  # then the first run says why nothing can be kept
                self._path.unlink()
        else:
            found = self._read(self._path)
            self.runs = tuple(run for run in found if cut or not run.ended)
            self._ended = tuple(run for run in found if run.ended and not cut)
        if self.runs:
            first, last = (in_words(time.time() - run.made_s) for run in (self.runs[0], self.runs[-1]))
            since = f"{first} ago" if first == last else f"{first} to {last} ago"
            log.info(f"going on from {counted(len(self.runs), 'run')} made {since}; --fresh makes all runs anew")

    def left_in_words(self) -> str:
        """Return what an interrupted search leaves, an empty text for nothing."""
        return "finished runs are kept" if self.runs and self._path is not None else ""

    def add(self, measurement: Measurement, limit_s: float = math.inf) -> None:
        """Keep a run that has just ended; it is on the disk when this returns, or a warning says why it is not."""
        if not self.runs:  # what a run changes is its output, and may differ at the next one
            after = set(file_states(self._program))
            self._files = tuple(state for state in self._before if state in after)
        limit = limit_s if math.isfinite(limit_s) else None
        self.runs = (*self.runs, KeptRun(measurement=measurement, made_s=time.time(), limit_s=limit))
        self._ended = tuple(run for run in self._ended if run.measurement.mapping != measurement.mapping)
        if self._path is None:
            return
        document = KeptFile(
            schema_version=SCHEMA_VERSION,
            program=self._named,
            files=self._files,
            runs=(*self.runs, *self._ended),
        )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, msgspec.json.encode(document, enc_hook=to_label))
            _forget_old(self._path.parent)
        except OSError as error:
            log.warning(f"{unwritable(self._path.parent, 'finished runs to', error)}; a later search makes them again")
            self._path = None

    def _read(self, path: Path) -> tuple[KeptRun, ...]:
        """Return the runs in the file that are comparable, none with a line in the log that says why."""
        try:
            found = msgspec.json.decode(read_bounded(path, SIZE_LIMIT_BYTES), type=KeptFile, dec_hook=from_label)
        except (FileNotFoundError, NotADirectoryError):
            if any(path.parent.glob(f"{self._start}-*.json")):
                log.info("its kept runs are of another computer, or of before its restart: all runs are made anew")
            elif any(map(self._is_same_program, path.parent.glob("*.json"))):
                log.info(
                    "its kept runs were started otherwise, with other variables, input, folder or cores, another "
                    "--metric or window, or by another numapredict: all runs are made anew"
                )
            return ()
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            log.warning(f"{path}: {' '.join(str(error).split())[:300]}; the kept runs in it are made anew")
            return ()
        why = self._not_comparable(found)
        if why:
            log.info(f"{why}: all runs are made anew")
            return ()
        self._files = found.files
        return found.runs

    def _is_same_program(self, path: Path) -> bool:
        """Return whether a file's runs are of the same command, however it was started."""
        with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return msgspec.json.decode(read_bounded(path, SIZE_LIMIT_BYTES), type=_Named).program == self._named
        return False

    def _not_comparable(self, found: KeptFile) -> str:
        if found.schema_version != SCHEMA_VERSION:
            return f"its runs were kept by another numapredict (schema_version {found.schema_version})"
        if not found.runs or found.runs[0].measurement.mapping != AS_IT_IS:
            return "its kept runs lack the first"
        fault = next(filter(None, (fault_of(run.measurement, self._nodes) for run in found.runs)), "")
        if any(run.measurement.status == "ok" and math.isnan(self._figure.cost(run.measurement)) for run in found.runs):
            fault = fault or "one has no figure"
        if fault or found.runs[0].measurement.status != "ok":
            return f"its kept runs make no sense ({fault or 'the first failed'})"
        now = set(self._before)
        changed = next((path for path, *_ in (state for state in found.files if state not in now)), None)
        if changed is not None:
            return f"{printable(changed)} has changed since the kept runs"
        age_s = time.time() - found.runs[0].made_s
        if not 0 <= age_s <= LIFE_S:
            return "its kept runs are not of the last day"
        return ""


def _forget_old(folder: Path) -> None:
    """Remove files whose runs will never be used again."""
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another search does the same
            if time.time() - file.stat().st_mtime > _FORGOTTEN_S:
                file.unlink()
