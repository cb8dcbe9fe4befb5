"""Determinism: how far five traces of one program differ, compared with the differences that they are to rank."""

import numpy as np
import numpy.typing as npt

from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.claim import Claim, Comparison, at_most
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.program import Program
from numapredict.collect.space import full_space

MACHINE = "sandybridge-4x8"
CODELETS = ("stream-triad", "bfs-level", "pgain", "histogram", "task-recursion")
TRACES = 5
THREADS = 16
MOST_SHARE = 0.1  # of what two mappings typically differ by
MOST_LOSS = 0.01  # from choosing by another trace


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return the spread of each codelet's modelled times."""
    programs = [bench.codelet(name, "medium", "serial") for name in CODELETS]
    return (
        Comparison(
            source="determinism",
            machine=MACHINE,
            used="",
            predicted="",
            claims=tuple(claim for program in programs for claim in _claims(bench, program)),
        ),
    )


def _claims(bench: Bench, program: Program) -> tuple[Claim, Claim]:
    """Return the claims on how far traces differ, and on what choosing by one of them costs by another."""
    description = bench.machine(MACHINE).description
    runs: list[list[float]] = []
    for _ in range(TRACES):
        with work_folder() as folder:
            machine = ModelledMachine(description, TraceStore(description, folder=folder))
            labels = [
                mapping.label for mapping in full_space(machine.topology, smt=False) if mapping.threads == THREADS
            ]
            runs.append([bench.region_s(machine, program, label) for label in labels])
    times = np.array(runs)
    spreads = np.sort(times.max(axis=0) / times.min(axis=0) - 1)
    apart = typical_difference(np.median(times, axis=0))
    return (
        at_most(
            f"{program.group}: spread of {TRACES} traces {np.median(spreads):.2%} (median over {len(spreads)} "
            f"mappings, at most {spreads[-1]:.2%}), two typically differ by {apart:.0%}: the first over the last",
            "share",
            (None, float(np.median(spreads)) / apart),
            MOST_SHARE,
        ),
        at_most(
            f"{program.group}: time lost by choosing the best of {len(spreads)} mappings by another trace, at most",
            "share",
            (None, loss_between(times)),
            MOST_LOSS,
        ),
    )


def typical_difference(times: npt.NDArray[np.float64]) -> float:
    """Return the median over all pairs of mappings of how much longer the slower one takes; times float64[mappings]."""
    first, second = np.triu_indices(len(times), 1)
    ratio = times[first] / times[second]
    return float(np.median(np.maximum(ratio, 1 / ratio)) - 1)


def loss_between(times: npt.NDArray[np.float64]) -> float:
    """Return how much longer than the best a mapping takes at most by one trace that was chosen by another.

    ``times`` are float64[traces, mappings].
    """
    chosen = times[:, times.argmin(axis=1)] / times.min(axis=1)[:, None]
    return float(chosen.max() - 1)
