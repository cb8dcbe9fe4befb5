"""The program `likwid-perfctr`: its version, its groups for this processor, and whether it can count."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.measuring.counters.likwid.refusal import refusal
from numapredict.native.errors import CounterError

_TIME_OUT_S = 60.0  # an access daemon that does not start is waited for 10 s a PU
# It may continue without the event. We do not use --force: another tool's counters would be lost.
_LEFT_OUT = "run likwid with force option"
_VERSION = re.compile(r"Version (\d+)\.(\d+)")
_GROUP = re.compile(r"\s*([A-Za-z0-9_]+)\t")


class Answer(msgspec.Struct, frozen=True):
    """What the tool answered: its exit code, standard output, and both channels as one text."""

    code: int
    output: str
    said: str


class LikwidTool(msgspec.Struct, frozen=True):
    """An installed ``likwid-perfctr``; ``daemon`` is its access daemon, where there is one."""

    path: str
    daemon: Path | None

    def ask(self, *options: str) -> Answer:
        """Run the tool with some options and return its answer; raise CounterError where it cannot be run."""
        try:
            result = subprocess.run(
                [self.path, *options],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIME_OUT_S,
                env=os.environ | {"LC_ALL": "C"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CounterError(f"{self.path} {' '.join(options)} did not end within {_TIME_OUT_S:.0f} s") from None
        except (OSError, ValueError) as error:
            raise CounterError(f"{self.path} could not be run: {error}; install the package likwid again") from None
        output, errors = (channel.decode(errors="replace") for channel in (result.stdout, result.stderr))
        return Answer(result.returncode, output, f"{errors}\n{output}")

    def version(self) -> tuple[int, int]:
        """Return the major and minor version, (0, 0) where unknown."""
        match = _VERSION.search(self.ask("-v").said)
        return (int(match[1]), int(match[2])) if match else (0, 0)

    def counts_by_perf(self) -> bool:
        """Return whether this LIKWID was built for the kernel's perf events; only then it has options for them."""
        return "--perfpid" in self.ask("-h").output

    def groups(self) -> frozenset[str]:
        """Return the names of the groups for this processor; raise CounterError where LIKWID does not list them."""
        answer = self.ask("-a")
        names = frozenset(match[1] for line in answer.output.splitlines() if (match := _GROUP.match(line)))
        if answer.code != 0 or not names:
            raise refusal(answer.said, self.daemon)
        return names

    def try_out(self, group: str, pus: Sequence[int], file: Path) -> str:
        """Count a group for a moment and return the output file's text; raise CounterError with LIKWID's message."""
        answer = self.ask("-c", ",".join(map(str, pus)), "-g", group, "-O", "-o", str(file), "true")
        text = kernel_text(file)
        if answer.code != 0 or not text.strip() or _LEFT_OUT in answer.said:
            raise refusal(answer.said, self.daemon)
        return text


def installed(tool: str) -> LikwidTool | None:
    """Return the tool of that name or path with its access daemon, or None where it is not installed."""
    path = shutil.which(tool)
    if path is None:
        return None
    folders = (str(Path(path).resolve().parent.parent / "sbin"), "/usr/local/sbin", "/usr/sbin")
    daemon = shutil.which("likwid-accessD", path=os.pathsep.join(folders))
    return LikwidTool(path, Path(daemon) if daemon else None)
