"""From the datasets of a fleet to one dataset a kind of machine: of one name and shape."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.data.dataset import Dataset, same_command
from numapredict.collect.data.dataset_store import LeftOut
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program


class FleetMachines(msgspec.Struct, frozen=True):
    """One dataset a kind of machine, each with its number of sources, and the datasets that joined none of them."""

    machines: tuple[tuple[Dataset, int], ...]
    left_out: tuple[LeftOut, ...]


def machines_of(named: Sequence[tuple[str, Dataset]]) -> FleetMachines:
    """Return the machines in named datasets, ordered by name and shape.

    Of a program that ran under a mapping in several datasets of a kind, the newest run that went well counts. Left out
    are datasets with foreign mappings, which no search can run, and those with another command for a program's name.
    """
    kinds: dict[tuple[str, str, bool], list[tuple[str, Dataset]]] = {}
    left_out: list[LeftOut] = []
    for name, dataset in named:
        if dataset.topology is None:
            left_out.append(LeftOut(name, f"its mappings of {dataset.machine} are foreign: no search can run them"))
        else:
            kind = dataset.machine, dataset.topology.fingerprint, dataset.modelled
            kinds.setdefault(kind, []).append((name, dataset))
    machines = []
    for kind in sorted(kinds):
        together = _joined(sorted(kinds[kind], key=lambda each: (each[1].created, each[0])), left_out)
        machines.append(together)
    return FleetMachines(tuple(machines), tuple(left_out))


def _joined(datasets: Sequence[tuple[str, Dataset]], left_out: list[LeftOut]) -> tuple[Dataset, int]:
    """Return the datasets, the oldest first, as one, and how many they are."""
    programs: dict[str, Program] = {}
    runs: dict[tuple[str, AnyMapping], Measurement] = {}
    joined: list[Dataset] = []
    for name, dataset in datasets:
        other = next((p for p in dataset.programs if not same_command(programs.get(p.name, p), p)), None)
        if other is not None:
            left_out.append(LeftOut(name, f"program {other.name!r} has another command in an older dataset"))
            continue
        programs |= {program.name: program for program in dataset.programs}
        for run in dataset.measurements:
            if run.status == "ok" or (run.program, run.mapping) not in runs:
                runs[run.program, run.mapping] = run
        joined.append(dataset)
    if len(joined) == 1:
        return joined[0], 1
    whole = msgspec.structs.replace(
        joined[-1], programs=tuple(programs.values()), measurements=tuple(runs[pair] for pair in runs)
    )
    return whole, len(joined)
