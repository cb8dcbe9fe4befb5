"""Determinism: what five traces of the same program differ by, beside the differences that they are to rank."""

import tempfile
from pathlib import Path

from numapredict.collect.fidelity.bench import Bench
from numapredict.collect.fidelity.claim import Claim, Comparison, at_most
from numapredict.collect.machines.trace_store import TraceStore
from numapredict.collect.machines.virtual import VirtualMachine
from numapredict.collect.program import Program
from numapredict.collect.space import full_space

MACHINE = "sandybridge-4x8"
CODELETS = ("stream-triad", "bfs-level", "pgain", "histogram")
TRACES = 5
THREADS = 16
MOST_SHARE = 0.1  # of the differences between mappings


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return the spread of each codelet's modelled times."""
    programs = [bench.codelet(name, "medium", "serial") for name in CODELETS]
    return (
        Comparison(
            source="determinism",
            machine=MACHINE,
            used="",
            predicted="",
            claims=tuple(_spread(bench, program) for program in programs),
        ),
    )


def _spread(bench: Bench, program: Program) -> Claim:
    """Return the claim on the median spread over the traces, as a part of that between the best and worst mapping."""
    description = bench.machine(MACHINE).description
    runs: list[dict[str, float]] = []
    for _ in range(TRACES):
        with tempfile.TemporaryDirectory(prefix="numapredict-") as folder:
            machine = VirtualMachine(description, TraceStore(description, announce=bench.announce, folder=Path(folder)))
            labels = [mapping.label for mapping in full_space(machine.topology) if mapping.threads == THREADS]
            runs.append({label: bench.region_s(machine, program, label) for label in labels})
    spreads = sorted(
        (max(run[label] for run in runs) - min(run[label] for run in runs)) / min(run[label] for run in runs)
        for label in runs[0]
    )
    middle = spreads[len(spreads) // 2]
    apart = max(runs[0].values()) / min(runs[0].values()) - 1
    return at_most(
        f"{program.group}: spread of {TRACES} traces {middle:.2%} (median over {len(spreads)} mappings, at most "
        f"{spreads[-1]:.2%}), mappings differ by {apart:.0%}: the first over the last",
        "share",
        (None, middle / apart),
        MOST_SHARE,
    )
