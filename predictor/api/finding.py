"""``variables``, ``regions`` and ``topology``: the questions of these commands, as functions."""

import os

import msgspec

from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.modelled.description import load_description
from numapredict.collect.topology import Topology
from numapredict.native.errors import UsageError
from numapredict.predictor.api.found import FoundRegions, FoundVariables
from numapredict.predictor.api.own_process import run_apart
from numapredict.predictor.api.quiet import Command, called, words_of
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.variables.session import Question, ask


def topology(machine: str | os.PathLike[str] | None = None) -> Topology:
    """Return the nodes, cores, caches and distances of this computer, or of a described machine by name or .toml file.

    Raises NumapredictError where it cannot be read.

    >>> import numapredict
    >>> found = numapredict.topology("sandybridge-4x8")
    >>> len(found.nodes), found.core_count, found.distances[0][0]
    (4, 32, 10.0)
    """
    with called(progress=False):
        return host_topology() if machine is None else load_description(os.fspath(machine)).topology


def variables(
    command: Command,
    *,
    machine: str | os.PathLike[str] | None = None,
    mapping: AnyMapping | str | None = None,
    time: bool = False,
    progress: bool = False,
) -> FoundVariables:
    """Run a program, and return which of its variables are in the wrong place and what would help, as `variables` does.

    ``machine`` judges by a described machine's nodes, ``mapping`` says where threads would be on it; ``time`` measures
    what the costliest cost, in further runs. Raises NumapredictError where the question is refused.
    """
    question = Question(
        words_of(command),
        machine=None if machine is None else os.fspath(machine),
        mapping=None if mapping is None else str(mapping),
        time=time,
    )
    with called(progress=progress):
        return FoundVariables(ask(question))


def regions(command: Command, *, seconds: float = 60.0) -> FoundRegions:
    """Run a program twice, and return what each of its parallel regions gains from other mappings, as `regions` does.

    Replays take ``seconds`` at most. The program has this process's streams. Raises NumapredictError where it is
    refused.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise UsageError(f"seconds={seconds!r} is no time for replays: give one above 0")
    with called(progress=False):
        ended = run_apart("regions", str(float(seconds)), words_of(command))
    return FoundRegions(msgspec.json.decode(ended.record, type=ReplayedRegions))
