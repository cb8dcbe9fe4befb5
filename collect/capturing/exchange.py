"""What the capture library and the process that watches a run tell each other: packets of fixed size.

The contract is native/capture/exchange.h; this is its other side.
"""

import math
import os
import struct
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from numapredict.collect.capturing.filling import fill_bytes
from numapredict.collect.page_policy import PagePolicy
from numapredict.collect.placement import Placement

VARIABLE = "NUMACAPTURE"
"""The variable that tells the library where to connect, and the file for its region clock."""

MOST_THREADS, MOST_NODES, MOST_REPLAYS, MOST_WANTED = 1024, 1024, 8, 512

Copies = Literal["keep", "bind", "interleave", "dataset", "locality", "balance", "mix"]
_COPIES: dict[Copies, int] = {name: number for number, name in enumerate(get_args(Copies))}

COPIES_OF: dict[PagePolicy, Copies] = {
    "first-touch": "keep",
    "bind": "bind",
    "remote": "bind",
    "interleave": "interleave",
    "dataset": "dataset",
    "locality": "locality",
    "balance": "balance",
    "mix": "mix",
    "weighted": "dataset",
}
"""Where the pages of a replay go under each page policy.

Under first touch a page stays where the program's own first touch has put it. The last three move a page by who
touches it in an instance that is not timed.
"""

_WANTED = struct.Struct(f"=I4x{2 * MOST_WANTED}Q")
_QUESTION = struct.Struct("=QQQII512s")
_JOB = struct.Struct(f"=6IQQ{MOST_THREADS}H{MOST_NODES}H")
_OUTCOME = struct.Struct(f"=IiIIQQQQQII{2 * MOST_REPLAYS}QII")

MOST_BYTES = max(_QUESTION.size, _OUTCOME.size) + 1
"""Of a packet of the library."""

_LONGEST_NS = 2**63

_TURNS = 64  # of a mapping's pages under `weighted`, as many as the preload library cuts a range into

MOST_ASTRAY = 0.05
"""Of the pages: with more on other nodes a replay says nothing about its mapping."""

_STATES = (
    "it ended, and nothing says why",
    "",
    "it makes the system call {call}, whose effects would be seen outside",
    "it ended by {signal}",
    "it took too long",
    "there is too little memory for a copy of the program",
    "the system allows no further process",
    "the program has mapped a device, which cannot be copied",
    "the region ended the program",
    "it did not get through the instance in which its touches are observed, where some system calls fail",
)

# Those that programs make in regions, by number; x86-64 and AArch64 (asm-generic).
_CALL_NAMES = "read write lseek ioctl writev openat close kill tgkill clone sendto recvfrom ppoll pselect6 execve wait4"
_CALL_NUMBERS = {
    "x86_64": (0, 1, 8, 16, 20, 257, 3, 62, 234, 56, 44, 45, 271, 270, 59, 61),
    "aarch64": (63, 64, 62, 29, 66, 56, 57, 129, 131, 220, 206, 207, 73, 72, 221, 260),
}
_CALLS = {kind: dict(zip(numbers, _CALL_NAMES.split(), strict=True)) for kind, numbers in _CALL_NUMBERS.items()}


class AskedRegion(msgspec.Struct, frozen=True):
    """A region that is about to begin as instance number ``instance``, from 0; the one before had ``team`` threads.

    It stands for a class of the region's instances: number ``number``, from 0, the one with most time first. These took
    ``mean_s`` each in a plain run, ``share`` of the region's time and ``weight`` of all regions' together. Where
    nothing is known of it, ``mean_s`` is 0.
    """

    key: int
    module: str
    offset: int
    process: int
    instance: int
    team: int
    mean_s: float = 0.0
    number: int = 0
    share: float = 1.0
    weight: float = 1.0


class Outcome(msgspec.Struct, frozen=True):
    """What came of a job: the time of each replay in seconds, or ``problem``, why there is none.

    ``emptied_s`` are further replays, each after the caches were emptied; none where that was not possible.
    ``team`` is how many threads the replays had, ``pages`` how many pages were copied before, in ``copy_s``, and
    ``astray`` how many of them were then on other nodes than wanted. Of the
    program's threads, ``awake`` did not sleep meanwhile. ``first_s`` is the replay before all others: it alone is on
    the run's own data, and the only time where others fail on what it left.
    """

    times_s: tuple[float, ...]
    team: int = 0
    pages: int = 0
    astray: int = 0
    fork_s: float = 0.0
    copy_s: float = 0.0
    problem: str = ""
    emptied_s: tuple[float, ...] = ()
    awake: int = 0
    first_s: float = 0.0


def place_of(module: str, offset: int) -> tuple[str, int]:
    """Return what tells a region apart in the runs of one program: the name of its module's file, and the offset."""
    return Path(module).name, offset


def question_of(packet: bytes) -> AskedRegion | None:
    """Return the question in a packet, None where it is none."""
    if len(packet) != _QUESTION.size:
        return None
    key, offset, instance, team, process, module = _QUESTION.unpack(packet)
    return AskedRegion(key, os.fsdecode(module.split(b"\0", 1)[0]), offset, process, instance, team)


def outcome_of(packet: bytes) -> Outcome | None:
    """Return the outcome in a packet, None where it is none."""
    if len(packet) != _OUTCOME.size:
        return None
    state, detail, replays, team, fork_ns, copy_ns, *rest = _OUTCOME.unpack(packet)
    first_ns, pages, astray, emptied, awake, *ns = rest[:-2]
    if state >= len(_STATES):
        return None
    times = tuple(each * 1e-9 for each in ns[: min(replays, MOST_REPLAYS)])
    after = tuple(each * 1e-9 for each in ns[MOST_REPLAYS:][: min(emptied, MOST_REPLAYS)])
    problem = _problem(state, detail)
    if not problem and astray > MOST_ASTRAY * pages:
        problem = f"{astray} of {pages} copied pages are on other nodes than wanted: too little memory on these"
    return Outcome(times, team, pages, astray, fork_ns * 1e-9, copy_ns * 1e-9, problem, after, awake, first_ns * 1e-9)


def _problem(state: int, detail: int) -> str:
    from numapredict.collect.placing.process import signal_name

    call = _CALLS.get(os.uname().machine, {}).get(detail, f"number {detail}")
    signal = signal_name(detail) if _STATES[state].count("{signal}") else ""
    return _STATES[state].format(call=call, signal=signal)


def job_packet(
    placement: Placement, replays: int, limit_s: float, emptying: bool = True, enough_s: float = math.inf
) -> bytes:
    """Return the job to replay under a placement, so often, at most so long, and as often after emptying the caches.

    There is no emptying where the median of the first replays is ``enough_s`` or longer.
    """
    copies = _COPIES[COPIES_OF[placement.mapping.page_policy]]
    threads, nodes = placement.pus, placement.os_page_nodes
    if copies == _COPIES["dataset"]:
        turns = placement.os_indices(placement.chunks)
        nodes = turns * (_times(len(turns)) if placement.mapping.page_policy == "weighted" else 1)
    head = (1, len(threads), copies, len(nodes), min(replays, MOST_REPLAYS), int(limit_s * 1000))
    fill, enough_ns = fill_bytes(placement) if emptying else 0, int(min(enough_s * 1e9, _LONGEST_NS))
    return _JOB.pack(*head, fill, enough_ns, *_filled(threads, MOST_THREADS), *_filled(nodes, MOST_NODES))


def go_on_packet() -> bytes:
    """Return the answer that the program goes on."""
    return bytes(_JOB.size)


def wanted_packet(instances: Collection[tuple[int, int]]) -> bytes:
    """Return what is sent to whoever connects: instances that are wanted, by the region's key and their number.

    A key of 0 means every region. Those that there is no room for are left out.
    """
    listed = sorted(set(instances))[:MOST_WANTED]
    flat = [number for each in listed for number in each]
    return _WANTED.pack(len(listed), *flat, *[0] * (2 * MOST_WANTED - len(flat)))


def fits(placement: Placement) -> bool:
    """Return whether replays have room for a placement's threads and nodes."""
    return len(placement.pus) <= MOST_THREADS and max(placement.os_page_nodes) < MOST_NODES


def variable_text(server: str, report: str) -> str:
    """Return the value of NUMACAPTURE: whom to ask, and the region clock's file."""
    return f"version=5;server={server};report={report}"


def _times(turns: int) -> int:
    """Return how often to take turns: an odd number, so that parts of a power of two begin at different ones."""
    return max(_TURNS // turns - 1, 0) // 2 * 2 + 1


def _filled(numbers: Sequence[int], size: int) -> list[int]:
    return [*numbers, *[0] * (size - len(numbers))]
