"""The process that watches a run: it answers the capture library's questions, and keeps what came of the replays.

It is a process and not a thread, since the one that follows the program waits for signals and forks. It ends when the
other closes its pipe, or is killed.
"""

import contextlib
import math
import os
import selectors
import signal
import socket
import time
import traceback
import uuid
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from numapredict.collect.capturing.exchange import (
    MOST_BYTES,
    AskedRegion,
    Outcome,
    go_on_packet,
    job_packet,
    outcome_of,
    question_of,
    wanted_packet,
)
from numapredict.collect.capturing.instance_class import USUAL, RegionInstances
from numapredict.collect.capturing.order import Succession, succession_of
from numapredict.collect.capturing.replay_time import LEAST_DIFFERENCE, emptied_share
from numapredict.collect.placement import Placement

REPLAYS = 3
"""Timed replays of one fork, after one that is not timed: so many the ICS'19 paper's replays have, too."""


LONG_S = 0.25
"""Instances so long are replayed once in a fork, after one that is not timed: what is in caches is little of them."""

LEAST_LIMIT_S = 5.0
"""Of one replay: on a busy computer threads that spin at a barrier may wait long for each other."""


class Replay(msgspec.Struct, frozen=True):
    """One fork's replays, all under one mapping, by its label."""

    mapping: str
    outcome: Outcome


class CapturedRegion(msgspec.Struct, frozen=True):
    """An instance of a region with its replays, in their order; ``seconds`` is what the program waited for them.

    ``cut``: the program ended before they did.
    """

    asked: AskedRegion
    replays: tuple[Replay, ...]
    seconds: float
    cut: bool = False


class _Kept(msgspec.Struct, frozen=True):
    """What the watching process leaves."""

    found: tuple[CapturedRegion, ...]
    order: tuple[Succession, ...]


class _Wanted:
    """Which instances are asked for: of each class of each region's, until one could be replayed.

    Where nothing is known of the regions, ``USUAL`` instances of each pass, and the next one is wanted.
    """

    def __init__(self, regions: Sequence[RegionInstances] | None) -> None:
        self._known = regions is not None
        self._classes = {
            (region.key, instance): (number, one, region.weight * one.share)
            for region in regions or ()
            for number, one in enumerate(region.classes)
            for instance in one.instances
        }
        self._done: set[tuple[int, int]] = set()

    @property
    def packet(self) -> bytes:
        return wanted_packet(self._classes if self._known else [(0, USUAL)])

    def with_class(self, asked: AskedRegion) -> AskedRegion | None:
        """Return a question with what its instance stands for; None where that has been replayed."""
        if not self._known:
            return asked
        number, one, weight = self._classes.get((asked.key, asked.instance), (0, None, 0.0))
        if one is None or (asked.key, number) in self._done:
            return None
        return msgspec.structs.replace(asked, mean_s=one.mean_s, number=number, share=one.share, weight=weight)

    def replayed(self, asked: AskedRegion) -> None:
        """Ask for no further instance of this class."""
        self._done.add((asked.key, asked.number))


Chooser = Callable[[AskedRegion], Generator[Placement, Outcome, bool]]
"""Yields the placements under which an instance is replayed, and is sent what came of each.

Returns whether another instance of its class is to be replayed instead. The first placement is the baseline's: if its
instances take no longer after their caches were emptied, or the run's do not, there is no emptying in further ones.
"""


class Watcher:
    """A watching process; ``name`` is where the library connects, and ``wanted`` are the regions of a plain run.

    Use it as a context. Once it has ended, ``found`` are the captured regions, and ``order`` is what processes told of
    the order of theirs.
    """

    def __init__(self, choose: Chooser, kept: Path, wanted: Sequence[RegionInstances] | None = None) -> None:
        self.name = f"numacapture-{uuid.uuid4().hex}"
        self.found: tuple[CapturedRegion, ...] = ()
        self.order: tuple[Succession, ...] = ()
        self._choose, self._kept, self._wanted = choose, kept, wanted

    def __enter__(self) -> "Watcher":
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind("\0" + self.name)
        listener.listen()
        ended, self._end = os.pipe()
        self._process = os.fork()
        if not self._process:
            os.close(self._end)
            _watch(listener, ended, self._choose, self._kept, _Wanted(self._wanted))
        os.close(ended)
        listener.close()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._end)
        os.waitpid(self._process, 0)
        if self._kept.is_file():
            kept = msgspec.json.decode(self._kept.read_bytes(), type=_Kept)
            self.found, self.order = kept.found, kept.order


def _watch(listener: socket.socket, ended: int, choose: Chooser, kept: Path, wanted: _Wanted) -> NoReturn:
    """Answer until the pipe is closed, and end this process."""
    code = 1
    try:
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        found, order = list[CapturedRegion](), list[Succession]()
        _serve(listener, ended, lambda connection: _Conversation(connection, choose, wanted, order), found)
        kept.write_bytes(msgspec.json.encode(_Kept(tuple(found), tuple(order))))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _serve(
    listener: socket.socket,
    ended: int,
    conversation_on: Callable[[socket.socket], "_Conversation"],
    found: list[CapturedRegion],
) -> None:
    conversations: dict[int, _Conversation] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(ended, selectors.EVENT_READ)
        selector.register(listener, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if listener.fileno() in ready:
                accepted, _ = listener.accept()
                conversations[accepted.fileno()] = conversation_on(accepted)
                selector.register(accepted.fileno(), selectors.EVENT_READ)
            for number in ready & set(conversations):
                conversation = conversations[number]
                if not conversation.answer():
                    selector.unregister(number)
                    del conversations[number]
                    conversation.close()
                found += conversation.left()
            if ended in ready:
                found += [each for one in conversations.values() for each in one.finished().left()]
                return


class _Conversation:
    """With one process of the run: a question, and then outcomes, one region at a time; ``order`` gets the rest."""

    def __init__(self, connection: socket.socket, choose: Chooser, wanted: _Wanted, order: list[Succession]) -> None:
        self._connection, self._choose, self._wanted, self._order = connection, choose, wanted, order
        with contextlib.suppress(OSError):  # it has gone already
            self._connection.send(wanted.packet)
        self._asked: AskedRegion | None = None
        self._replays: list[Replay] = []
        self._done: list[CapturedRegion] = []

    def left(self) -> list[CapturedRegion]:
        """Return the regions that are finished, once."""
        done, self._done = self._done, []
        return done

    def answer(self) -> bool:
        """Answer the next packet; False where the process has gone, or does not speak as it should."""
        try:
            packet = self._connection.recv(MOST_BYTES)
            asked, outcome, succession = question_of(packet), outcome_of(packet), succession_of(packet)
            if succession is not None:
                self._order.append(succession)
                self._connection.send(go_on_packet())
            elif asked is not None:
                known = self._wanted.with_class(asked)
                if known is None:
                    self._connection.send(go_on_packet())
                    return True
                self._asked, self._began_s, self._replays, self._emptying = known, time.monotonic(), [], True
                self._placements = self._choose(known)
                self._go_on(lambda: next(self._placements))
            elif outcome is not None and self._asked is not None:
                self._replays.append(Replay(self._placement.mapping.label, outcome))
                if len(self._replays) == 1:  # of the baseline
                    self._emptying = emptied_share([outcome], self._asked.mean_s) > 0
                self._go_on(lambda: self._placements.send(outcome))
            else:
                self.finished()
                return False
        except OSError:
            self.finished()
            return False
        return True

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def finished(self, *, cut: bool = True) -> "_Conversation":
        """End the region that is under way, if there is one; return itself."""
        if self._asked is not None:
            seconds = time.monotonic() - self._began_s
            self._done.append(CapturedRegion(self._asked, tuple(self._replays), seconds, cut))
        self._asked = None
        return self

    def _go_on(self, following: Callable[[], Placement]) -> None:
        if self._asked is None:
            return
        try:
            self._placement = following()
        except StopIteration as ended:
            if not ended.value:
                self._wanted.replayed(self._asked)
            self.finished(cut=False)
            self._connection.send(go_on_packet())
            return
        replays = 1 if self._asked.mean_s >= LONG_S else REPLAYS
        limit_s = max(LEAST_LIMIT_S, 100 * self._asked.mean_s * max(self._asked.team, 1)) * (replays + 1)
        # of the baseline, whose first replays may already be as long as the run's instances
        of_the_run = self._asked.mean_s > 0 and not self._replays
        emptying = self._emptying and replays > 1
        enough_s = self._asked.mean_s / (1 + LEAST_DIFFERENCE) if of_the_run else math.inf
        self._connection.send(job_packet(self._placement, replays, limit_s, emptying, enough_s))
