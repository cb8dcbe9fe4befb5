"""CERE, the Codelet Extractor and REplayer, as a source of programs (ICS'19 sec. 3.3).

CERE belongs to a folder in which `cere configure` was run: it writes cere.json, with the commands that build and run
the application. Used here are its documented commands `regions`, `capture` and `replay`, and the files that they leave:
the list regions.csv, and a binary in place of the application's that restores a region's memory from `.cere/dumps` and
runs the region. That binary is kept, one a region, as a program like any other.
(Manual pages: benchmark-subsetting.github.io/cere.)
"""

import csv
import io
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.host.durable import refused_as
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError, MissingNativePartError, UnrunnableProgramError

COMMAND = "cere"
CONFIGURATION, REGIONS = "cere.json", "regions.csv"
KEPT = Path(".cere") / "numapredict"  # the replay binaries
_REPORT_BYTES = 200
_MOST_REGIONS_BYTES = 16 * MIB


class Region(msgspec.Struct, frozen=True):
    """A region that CERE can extract; ``coverage`` is its share of the run time in percent, where it was profiled."""

    name: str
    file: str
    coverage: float | None


class _Configuration(msgspec.Struct):
    """What is read of cere.json."""

    run_cmd: str


class Cere:
    """The CERE project in a folder."""

    def __init__(self, folder: Path) -> None:
        """Raise MissingNativePartError where CERE is missing, InvalidInputError where the folder has no project."""
        self.folder = folder
        self.command = shutil.which(COMMAND) or ""
        if not self.command:
            raise MissingNativePartError(
                f"{COMMAND} is not on the PATH, so {folder} cannot be replayed; install CERE, or give the program "
                "itself with --program"
            )
        path = folder / CONFIGURATION
        try:
            self.run_words = shlex.split(msgspec.json.decode(read_bounded(path, MIB), type=_Configuration).run_cmd)
        except OSError as error:
            raise InvalidInputError(f"{path}: {error.strerror}; run cere configure in {folder} first") from None
        except (msgspec.DecodeError, ValueError) as error:
            raise InvalidInputError(f"{path}: {error}; run cere configure in {folder} again") from None

    def regions(self) -> tuple[Region, ...]:
        """Return the regions by falling coverage, as `cere regions` lists them.

        Without a profile CERE lists what it can see in the source, without coverage.
        """
        profiled = (self.folder / ".cere" / "profile" / "app.prof").is_file()
        self._call("regions", *([] if profiled else ["--static"]))
        path = self.folder / REGIONS
        try:
            text = read_bounded(path, _MOST_REGIONS_BYTES).decode(errors="replace")
            rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row and row[0].startswith("__cere__")]
        except OSError as error:
            raise InvalidInputError(f"{path}: {error.strerror}, though cere regions succeeded") from None
        found = [Region(row[0], row[1] if len(row) > 1 else "", _percent(row[-1])) for row in rows]
        return tuple(sorted(found, key=lambda region: -(region.coverage or 0)))

    def programs(self, names: Sequence[str], invocation: int, repetitions: int) -> tuple[Program, ...]:
        """Return a program for every region named: its invocation, captured now if it was not, run so many times."""
        return tuple(self._program(name, invocation, repetitions) for name in names)

    def _program(self, name: str, invocation: int, repetitions: int) -> Program:
        if not (self.folder / ".cere" / "dumps" / name / str(invocation)).is_dir():
            self._call("capture", f"--region={name}", f"--invocation={invocation}")
        kept = self.folder / KEPT / f"{name}_{invocation}_{repetitions}"
        if not kept.is_file():
            self._call(
                *("replay", f"--region={name}", f"--invocation={invocation}", f"--invitro-callcount={repetitions}"),
                *("--norun", "--noinstrumentation", "--force"),
            )
            self._keep(kept)
        return Program(
            name=f"{self.folder.resolve().name}:{name.removeprefix('__cere__')}",
            command=(str(kept.resolve()), *self.run_words[self._binary() + 1 :]),
            directory=str(self.folder.resolve()),
            group=f"cere:{self.folder.resolve().name}",
            summary=f"region {name} of {shlex.join(self.run_words)}, invocation {invocation}, replayed by CERE",
        )

    def _binary(self) -> int:
        """Return which word of the run command is the application: the first that is a file in the folder."""
        for index, word in enumerate(self.run_words):
            if (self.folder / word).is_file():
                return index
        words = shlex.join(self.run_words)
        raise InvalidInputError(
            f"{self.folder / CONFIGURATION}: run_cmd {words!r} names no file; build the application"
        )

    def _keep(self, kept: Path) -> None:
        built = self.folder / self.run_words[self._binary()]
        with refused_as(f"cannot keep the replay {kept}", InvalidInputError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(built, kept)

    def _call(self, *words: str) -> None:
        try:
            done = subprocess.run(
                [self.command, *words], cwd=self.folder, capture_output=True, check=False, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            raise UnrunnableProgramError(f"{self.command}: {error.strerror}") from error
        if done.returncode != 0:
            said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines() or ["no reason given"]
            last = "".join(letter for letter in said[-1] if letter.isprintable())[:_REPORT_BYTES]
            raise UnrunnableProgramError(f"{COMMAND} {words[0]} failed in {self.folder} with {done.returncode}: {last}")


def _percent(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def regions_in_words(regions: Sequence[Region]) -> str:
    """Return a line for each region: its share of the run time, its name and file."""
    return "\n".join(
        f"{'' if region.coverage is None else f'{region.coverage:5.1f} %':>8}  {region.name}  {region.file}"
        for region in regions
    )
