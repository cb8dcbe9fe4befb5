"""From the datasets of a fleet to one dataset a kind of machine: of one name and shape."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.data.dataset import Dataset, same_command
from numapredict.collect.data.dataset_store import LeftOut, StoredDataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError


def kinds_of(stored: Sequence[StoredDataset], left_out: list[LeftOut]) -> list[tuple[StoredDataset, ...]]:
    """Return the datasets of each kind, the oldest first, ordered by the kinds' names and shapes.

    Left out are datasets with foreign mappings, which no search can run.
    """
    kinds: dict[tuple[str, str, bool], list[StoredDataset]] = {}
    for each in stored:
        known = each.heading
        if known.topology is None:
            reason = f"its mappings of {known.machine} are foreign: no search can run them"
            left_out.append(LeftOut(each.shown, reason))
        else:
            kinds.setdefault((known.machine, known.topology.fingerprint, known.modelled), []).append(each)
    return [tuple(sorted(kinds[kind], key=lambda each: (each.heading.created, each.name))) for kind in sorted(kinds)]


def machine_of(kind: Sequence[StoredDataset], left_out: list[LeftOut]) -> tuple[Dataset, int] | None:
    """Return a kind's datasets, the oldest first, as one, and how many they are; None where none can be read.

    Of a program that ran under a mapping in several, the newest run that went well counts. Left out are datasets that
    cannot be read, and those with another command for a program's name.
    """
    programs: dict[str, Program] = {}
    runs: dict[tuple[str, AnyMapping], Measurement] = {}
    joined: list[Dataset] = []
    for each in kind:
        try:
            dataset = each.read()
        except InvalidInputError as error:
            left_out.append(LeftOut(each.shown, str(error)))
            continue
        other = next((p for p in dataset.programs if not same_command(programs.get(p.name, p), p)), None)
        if other is not None:
            left_out.append(LeftOut(each.shown, f"program {other.name!r} has another command in an older dataset"))
            continue
        programs |= {program.name: program for program in dataset.programs}
        for run in dataset.measurements:
            if run.status == "ok" or (run.program, run.mapping) not in runs:
                runs[run.program, run.mapping] = run
        joined.append(dataset)
    if len(joined) < 2:
        return (joined[0], 1) if joined else None
    whole = msgspec.structs.replace(
        joined[-1], programs=tuple(programs.values()), measurements=tuple(runs[pair] for pair in runs)
    )
    return whole, len(joined)
