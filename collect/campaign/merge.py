"""Put the runs of many nodes together: a dataset a kind of machine, the same whatever the shards and their order."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from numapredict.collect.campaign.campaign import dataset_of
from numapredict.collect.campaign.control import OutOfLine, control_times, out_of_line
from numapredict.collect.campaign.job_array import without_options
from numapredict.collect.campaign.shard import Shard
from numapredict.collect.campaign.shard_journals import Source, all_programs, all_runs, check_one_version
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.journal import Header
from numapredict.collect.data.machine_kind import MachineKind, difference_in_words
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError

_OF_THE_SHARD = ("--shards", "--shard", "--into")
"""Options of the command that collected: they say who ran what, not what was run."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset of one kind of machine, and what it lacks.

    ``left_out`` are nodes that are out of line, ``missing`` the shards of which there is nothing, ``unfinished`` the
    programs that have not run under all mappings, with the number of runs that they lack.
    """

    kind: MachineKind
    dataset: Dataset
    left_out: tuple[OutOfLine, ...] = ()
    missing: tuple[Shard, ...] = ()
    unfinished: tuple[tuple[str, int], ...] = ()


def merged(sources: Sequence[Source], *, fleet: bool = False, keep_nodes: bool = False) -> tuple[Merged, ...]:
    """Return the dataset of each kind of machine, in the order of their fingerprints; without ``fleet`` there is one.

    Raises InvalidInputError for several kinds without ``fleet``, for figures that contradict each other, and where it
    is not clear which nodes are out of line.
    """
    kinds: dict[MachineKind, list[Source]] = {}
    for source in sorted(sources, key=lambda each: str(each.path)):
        kinds.setdefault(source.kind, []).append(source)
    if len(kinds) > 1 and not fleet:
        (one, (first, *_)), (other, (second, *_)), *_ = kinds.items()
        raise InvalidInputError(
            f"{first.path} and {second.path} are of different machines ({difference_in_words(one, other)}): merge each"
            " kind of machine alone, or all with --fleet, into a dataset each"
        )
    ordered = sorted(kinds.items(), key=lambda each: each[0].fingerprint)
    return tuple(_merged(kind, own, keep_nodes=keep_nodes) for kind, own in ordered)


def _merged(kind: MachineKind, sources: Sequence[Source], *, keep_nodes: bool) -> Merged:
    check_one_version(sources)
    left_out = () if keep_nodes else out_of_line(_control_of_nodes(sources))
    absent = {each.node for each in left_out}
    kept = [source for source in sources if source.name is None or source.name.node not in absent]
    runs = all_runs(kept, strict=True)
    have = {name for name, _ in runs}
    programs = [program for name, program in sorted(all_programs(kept).items()) if name in have]
    mappings, of_program = len({mapping for _, mapping in runs}), Counter(name for name, _ in runs)
    return Merged(
        kind=kind,
        dataset=dataset_of(_header(kept), programs, [run.measurement for run in runs.values()]),
        left_out=left_out,
        missing=_missing(source.name.shard for source in sources if source.name is not None),
        unfinished=tuple((p.name, mappings - of_program[p.name]) for p in programs if of_program[p.name] < mappings),
    )


def _control_of_nodes(sources: Sequence[Source]) -> dict[str, dict[str, float]]:
    nodes = sorted({source.name.node for source in sources if source.name is not None and source.control})
    return {
        node: control_times([m for s in sources if s.name is not None and s.name.node == node for m in s.control])
        for node in nodes
    }


def _header(sources: Sequence[Source]) -> Header:
    """Return one header for all: the command without who ran what, the first time, and every setting that was met."""
    headers = [source.header for source in sources]
    settings = sorted({name for header in headers for name, _ in header.environment})
    return msgspec.structs.replace(
        headers[0],
        made_by="; ".join(sorted({_without_shard(header.made_by) for header in headers})),
        created=min(header.created for header in headers),
        environment=tuple((name, _values(name, headers)) for name in settings),
        topology=min((header.topology for header in headers), key=_topology_order),
    )


def _values(name: str, headers: Iterable[Header]) -> str:
    return ", ".join(sorted({dict(header.environment).get(name, "unknown") for header in headers}))


def _topology_order(topology: Topology) -> tuple[int, bytes]:
    """Return a sort key by which the node with the least memory is first: what fits it fits all."""
    return sum(node.memory_bytes for node in topology.nodes), msgspec.json.encode(topology)


def _without_shard(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return shlex.join(without_options(words, _OF_THE_SHARD))


def _missing(shards: Iterable[Shard]) -> tuple[Shard, ...]:
    """Return the shards of which there is nothing, unless those of another number of shards are complete."""
    found = set(shards)
    counts = sorted({shard.count for shard in found})
    lacking = [{Shard(number, count) for number in range(count)} - found for count in counts]
    return min((tuple(sorted(each)) for each in lacking), key=lambda each: (len(each), each), default=())
