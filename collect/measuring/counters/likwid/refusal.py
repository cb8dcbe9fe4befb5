"""LIKWID's refusals, and what helps, least privilege first; pure except for ``access_obstacle``.

The texts are those of LIKWID 5.2.2's library and Lua scripts, and of its issues 318, 373 and 459 for refusals not seen
here. Its access daemon needs the set-user-ID bit or a file capability: likwid-accessD(1).
"""

import os
import re
from pathlib import Path

from numapredict.collect.measuring.counters.source import Obstacle
from numapredict.native.errors import CounterError

INSTALL = "sudo apt-get install likwid"
_LOAD = "sudo modprobe msr"
_ELSEWHERE = "other sources of counters may work: perf, resctrl"
_PARANOID = "sudo sysctl kernel.perf_event_paranoid={}"
_NOISE = re.compile(r"(?:ERROR|WARN(?:ING)?) - \[[^\]]*\] ?|-{5,}")
_HEADER = re.compile(r"CPU (name|type|clock)\b")
# In order: the first match is the cause, later lines of LIKWID's output are consequences.
# The last field says whether missing rights of the access daemon may be the cause.
_CAUSES: tuple[tuple[str, str, tuple[str, ...], bool], ...] = (
    (r"Unsupported .*Processor|No groups defined for", "LIKWID does not know this processor", (_ELSEWHERE,), False),
    (
        r"perf_event_paranoid = (\d+)",
        "LIKWID's perf backend needs a lower kernel.perf_event_paranoid",
        (_PARANOID.format(2), _PARANOID.format(0)),
        False,
    ),
    (r"Setup of event .* failed", "the kernel refuses LIKWID an event", (_PARANOID.format(0),), False),
    (
        r"CPUs given on commandline are not valid",
        "LIKWID may not count these PUs: they are not in its cpuset",
        (),
        False,
    ),
    (r"is locked", "LIKWID's lock is another user's", ("ask the owner of /var/run/likwid.lock to remove it",), False),
    (
        r"register \S+ is in use",
        "another tool counts, or left a counter configured",
        ("stop other tools that count", "sudo sysctl kernel.nmi_watchdog=0"),
        False,
    ),
    (r"Cannot (read|transform)|performance group .* not allowed", "LIKWID lacks the group", (INSTALL,), False),
    (r"only allowed for uid root", "LIKWID reads memory controllers directly only as root", (), True),
    (r"/dev/cpu/\d+/msr.*No such file|'msr' module", "there is no /dev/cpu/*/msr", (_LOAD,), True),
    (r"access to MSRs|/dev/cpu/\d+/msr", "LIKWID may not use /dev/cpu/*/msr", (_LOAD,), True),
    (r"daemon|accessD|socket file", "LIKWID's access daemon did not start", (_LOAD,), True),
)


def refusal(said: str, daemon: Path | None = None) -> CounterError:
    """Return LIKWID's refusal as an error with its words and what helps; ``daemon`` is the access daemon, if used."""
    for pattern, reason, remedies, needs_rights in _CAUSES:
        found = re.search(pattern, said)
        if found:
            line = said[said.rfind("\n", 0, found.start()) + 1 :].splitlines()[0]
            rights = daemon_remedies(daemon) if needs_rights else ()
            return CounterError(f"{reason}: {_plain(line)!r}", (*remedies, *rights))
    lines = [plain for line in said.splitlines() if (plain := _plain(line)) and not _HEADER.match(plain)]
    return CounterError(f"LIKWID refuses: {lines[0]!r}" if lines else "LIKWID refuses and says nothing")


def daemon_remedies(daemon: Path | None) -> tuple[str, ...]:
    """Return the commands that give the access daemon its rights: first those for cores, then those for all."""
    path = daemon or Path("/usr/sbin/likwid-accessD")
    return (f"sudo setcap cap_sys_rawio,cap_dac_override=ep {path}", f"sudo chown root {path} && sudo chmod u+s {path}")


def access_obstacle(root: Path, daemon: Path | None, superuser: bool) -> Obstacle | None:
    """Return why the registers cannot be reached here, or None where nothing is known; reads only.

    In tests ``root`` replaces /; ``superuser`` is whether this process may open what only root may.
    """
    registers = root / "dev/cpu/0/msr"
    inside = (root / ".dockerenv").exists() or (root / "run/.containerenv").exists()
    if not registers.exists() and inside:
        return Obstacle(
            "this container has no /dev/cpu/0/msr, which LIKWID counts by",
            (
                f"outside: {_LOAD}",
                "start the container with --cap-add SYS_RAWIO and --device /dev/cpu/N/msr for each PU N",
            ),
        )
    if not registers.exists():
        return Obstacle("there is no /dev/cpu/0/msr, which LIKWID counts by", (_LOAD,))
    if superuser or os.access(registers, os.R_OK | os.W_OK):
        return None
    if daemon is None:
        return Obstacle("LIKWID's access daemon likwid-accessD is not installed", (INSTALL,))
    if not has_rights(daemon):
        return Obstacle(f"LIKWID's access daemon {daemon} has no rights to read counters", daemon_remedies(daemon))
    return None


def paranoid_obstacle(root: Path, group: str, superuser: bool) -> Obstacle | None:
    """Return why LIKWID's perf backend cannot count a group here, or None; it checks the kernel's setting itself."""
    try:
        level = int((root / "proc/sys/kernel/perf_event_paranoid").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Obstacle("this kernel or container has no perf events, which this LIKWID counts by", ())
    # likwid-perfctr ends above 2, even for root; perfmon_perfevent.h skips uncore events above 0.
    allowed = 0 if group == "MEM" and not superuser else 2
    if level <= allowed:
        return None
    return Obstacle(
        f"kernel.perf_event_paranoid is {level}, for group {group} LIKWID needs {allowed}", (_PARANOID.format(allowed),)
    )


def has_rights(daemon: Path) -> bool:
    """Return whether the access daemon has root's set-user-ID bit or any file capability."""
    try:
        state = daemon.stat()
        if state.st_uid == 0 and state.st_mode & 0o4000:
            return True
        return "security.capability" in os.listxattr(daemon)
    except OSError:
        return False


def _plain(line: str) -> str:
    """Return a line of LIKWID's without its source location, shortened."""
    return _NOISE.sub("", line).strip()[:160]
