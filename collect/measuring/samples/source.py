"""Samples memory accesses by perf: Intel's PEBS (mem-loads) or AMD's IBS, whichever the kernel offers.

Which events, after perf-mem(1), perf-amd-ibs(1) and tools/perf/util/mem-events.c of the Linux kernel. Stores are left
out: PEBS does not tell what served them. Arm's SPE is not supported.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping as Variables
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.measuring.counters.perf.processor import processor_of
from numapredict.collect.measuring.counters.perf.refusal import paranoid_level, permission_refusal, remedies
from numapredict.collect.measuring.counters.source import Obstacle
from numapredict.collect.measuring.samples.perf_script import FIELDS, Accesses, read_script
from numapredict.collect.placing.launcher import launcher_command
from numapredict.native.errors import CounterError, MissingNativePartError

_THIS_COMPUTER = Path("/")
_DEVICES = "sys/bus/event_source/devices"
_RATE = ("-F", "499")  # samples a second and thread, 499 of them so that no loop keeps step
_TRIAL_TIMEOUT_S = 20.0
_KERNEL_ALLOWED = 1  # kernel.perf_event_paranoid
_ENV = ("env", "-u", "LD_PRELOAD", "PERF_CONFIG=/dev/null")  # neither our library nor the user's settings for perf
_INSTALL = "install perf: linux-perf (Debian), linux-tools-generic (Ubuntu), perf (Fedora, Red Hat)"


class Events(msgspec.Struct, frozen=True):
    """What perf records: each of ``words`` for its own -e, at a rate; what samples are called is in ``read_script``."""

    words: tuple[str, ...]
    accesses: str
    instructions: str
    rate: tuple[str, ...] = _RATE


def events_of(root: Path) -> Events | None:
    """Return the events of the kernel of a file tree, or None where it offers none."""
    pebs, ibs = root / _DEVICES / "cpu" / "events", root / _DEVICES / "ibs_op"
    if kernel_text(pebs / "mem-loads"):
        loads = "cpu/mem-loads,ldlat=30,name=mem-loads/"
        # From Sapphire Rapids on another event must lead the group (the kernel lists it).
        leads = kernel_text(pebs / "mem-loads-aux") != ""
        word = f"{{cpu/mem-loads-aux,name=leader/,{loads}}}:uP" if leads else f"{loads}uP"
        return Events((word, "cpu/instructions,name=executed/u"), "mem-loads", "executed")
    if kernel_text(ibs / "format" / "cnt_ctl"):  # counts operations, not cycles: each is as likely
        user = kernel_text(ibs / "format" / "swfilt") != ""  # Linux 6.14
        word = "ibs_op/cnt_ctl=1,swfilt=1,name=ops/u" if user else "ibs_op/cnt_ctl=1,name=ops/"
        return Events((word,), "ops", "ops")
    return None


class PerfSamples:
    """perf's memory sampling as a source; in tests ``root`` replaces /, and ``events`` those of the processor."""

    name = "samples"

    def __init__(self, root: Path = _THIS_COMPUTER, events: Events | None = None) -> None:
        self._root = root
        self._events = events or events_of(root)

    def obstacle(self) -> Obstacle | None:
        """Return why accesses cannot be sampled here, or None: on the computer itself perf tries it."""
        if self._events is None:
            processor = processor_of(self._root)
            reason = "the kernel offers no events that sample memory accesses (PEBS's mem-loads, IBS)"
            if processor is not None and processor.guest:
                return Obstacle(f"{reason}: this is a virtual machine", ("run on the host, or on bare metal",))
            return Obstacle(f"{reason} of this processor")
        if shutil.which("perf") is None:
            return Obstacle("perf is not installed", (_INSTALL,))
        refused = permission_refusal(self._root)
        if refused is not None or self._root != _THIS_COMPUTER:
            return refused
        try:
            with work_folder() as folder:
                self._try(folder / "trial")
        except (CounterError, MissingNativePartError) as error:
            # IBS samples the kernel, too, before Linux 6.14, which level 2 forbids.
            forbidden = os.geteuid() != 0 and (paranoid_level(self._root) or 0) > _KERNEL_ALLOWED
            return Obstacle(str(error), remedies(_KERNEL_ALLOWED)[1:] if forbidden else ())
        return None

    def command(self, command: Sequence[str], variables: Variables[str, str], file: Path) -> tuple[str, ...]:
        """Return the command that runs ``command`` and records into ``file``; ``variables`` are the program's alone."""
        if self._events is None:
            raise CounterError("no events sample memory accesses here")
        events = [part for word in self._events.words for part in ("-e", word)]
        # The clock is that of page-access profiles. No build IDs: they are kept in the user's home.
        options = ("-d", "-W", "--sample-cpu", "-k", "CLOCK_MONOTONIC", "-B", "-N", *self._events.rate)
        words = (*_ENV, "perf", "record", "-q", "-o", str(file), *events, *options)
        return (*words, "--", *launcher_command(command, variables))

    def read(self, file: Path) -> Accesses:
        """Return the samples of a run that has ended; raise CounterError where perf left none that can be read."""
        if self._events is None or not file.is_file():
            raise CounterError("perf recorded nothing")
        words = (*_ENV, "LC_ALL=C", "perf", "script", "-i", str(file), "--ns", "-F", FIELDS)
        with work_folder() as folder, open(folder / "said", "w+", encoding="utf-8", errors="replace") as said:
            try:
                with subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    text=True,
                    errors="replace",
                ) as script:
                    stream = script.stdout
                    lines = iter(lambda: stream.readline(4096), "") if stream is not None else ()
                    try:
                        found = read_script(lines, self._events.accesses, self._events.instructions)
                    except BaseException:
                        script.kill()
                        raise
            except OSError as error:
                raise CounterError(f"perf script cannot be started: {error.strerror}") from None
            said.seek(0)
            if script.returncode != 0:
                raise CounterError(f"perf script: {reason_of(said.read(4096), script.returncode)}")
        return found

    def _try(self, file: Path) -> None:
        """Record a program that does nothing; raise CounterError where perf refuses."""
        command = self.command(("true",), {}, file)
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TRIAL_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CounterError(f"perf record cannot be tried: {error}") from None
        if done.returncode != 0:
            raise CounterError(f"perf record: {reason_of(done.stderr, done.returncode)}")


def reason_of(said: str, code: int) -> str:
    """Return perf's reason in one line: the first one that is no heading."""
    lines = [line.strip() for line in said.splitlines()]
    return next((line[:200] for line in lines if line and line not in ("Error:", "WARNING:")), f"exit code {code}")
