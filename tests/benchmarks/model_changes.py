"""What parts of the model add to a search on real machines: each is left out in turn.

Codelets and applications are modelled on one described machine, with first touch alone, since the machines that MCTOP
measured ran nothing else; a search that knows only these is then judged on MCTOP's run times, as `search_curves` does.
Left out are: the costs of synchronisation (before, a barrier cost two cache latencies for each doubling of threads),
the clock by active cores, the overlap of changed lines' reads, instances by size, and mappings with several threads a
core. All variants share the traces.
"""

import math
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cached_property, partial
from unittest import mock

import click
import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.mapping import Mapping
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.description import MachineDescription, load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.shared_caches import DEPENDENT, INDEPENDENT, Lines
from numapredict.collect.modelled.synchronisation import Synchronisation, Waits
from numapredict.collect.program import Program
from numapredict.collect.space import default_mapping, full_space
from numapredict.predictor.evaluation.search_curve import Space, Trials, foreign_knowledge, searched
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of
from tests.benchmarks.search_curves import ORDERS, SHOWN, in_order, measured_machine, row
from tests.golden.evaluations import measured

CODELETS = (
    *("stream-triad", "jacobi-3d-7", "line-solve-z", "spmv-csr", "cg-dot", "kmeans-assignment", "bfs-level"),
    *("matrix-product", "hash-build", "histogram", "reduction-tree", "shared-table", "needleman-wunsch", "radix-sort"),
)
APPLICATIONS = ("short-regions", "barrier-pipeline", "serial-part", "locked-merge")
SHARES = (0.25, 0.5, 1.0)
"""The threads of the mappings, as shares of the cores."""


class FormerSynchronisation(Synchronisation):
    """The rule before descriptions had costs: no locks, no chunks, barriers by the latency of the farthest threads."""

    def __init__(self, machine: MachineDescription) -> None:
        super().__init__(machine)
        self._hit_ns = machine.shared_cache.latency_ns

    def _waits(self, nodes: tuple[int, ...]) -> Waits:
        used = sorted(set(nodes))
        farthest_ns = float(self._latency_ns[np.ix_(used, used)].max()) if len(used) > 1 else self._hit_ns
        barrier_ns = 2 * math.ceil(math.log2(len(nodes))) * farthest_ns
        return Waits(barrier_ns, barrier_ns, 0.0, 0.0)


class FormerLines(Lines):
    """Lines of which a read that another thread's write caused waits for its whole latency."""

    @cached_property
    def kind(self) -> npt.NDArray[np.int32]:
        """Return each record's kind, int32[R]."""
        flags, kind = self.phased.flags, super().kind.copy()
        caused = ((flags & t.COHERENCE) != 0) & ((flags & t.STORE) == 0)
        kind[caused & (kind == INDEPENDENT)] = DEPENDENT
        return kind


def without_turbo(description: MachineDescription) -> MachineDescription:
    """Return a description with the clock of all cores' load."""
    if not description.turbo_GHz:
        return description
    return msgspec.structs.replace(description, frequency_GHz=description.turbo_GHz[-1], turbo_GHz=())


PATCHED: dict[str, tuple[str, object]] = {
    "synchronisation": ("modelled_machine.Synchronisation", FormerSynchronisation),
    "overlap of changed lines": ("shared_caches.Lines", FormerLines),
    "instances by size": ("phases.classes_of_regions", lambda _census: {}),
}
"""What of the model is replaced to leave a part of it out."""

AS_IT_IS, TURBO, SMT = "as it is", "turbo", "several threads a core"
VARIANTS = (AS_IT_IS, *PATCHED, TURBO)


def mappings_of(description: MachineDescription) -> tuple[Mapping, ...]:
    """Return the default, and the mappings with first touch on the threads' own nodes, by the shares of cores."""
    topology = description.topology
    default = default_mapping(topology)
    counts = {round(share * topology.core_count * each) for share in SHARES for each in (1, 2)}
    found = [
        mapping
        for mapping in full_space(topology, smt=True)
        if mapping.threads in counts
        and mapping.page_nodes == mapping.thread_nodes
        and mapping.page_policy == ("first-touch" if mapping.thread_nodes > 1 else "bind")
        and (mapping.threads_per_core == 1 or mapping.threads in (topology.core_count, 2 * topology.core_count))
    ]
    return tuple(dict.fromkeys((default, *found)))


def times_of(program: Program, machine: str) -> dict[str, list[float]]:
    """Return the modelled time of a program's regions under each mapping, by what is left out."""
    described, found = load_description(machine), {}
    for variant in VARIANTS:
        description = without_turbo(described) if variant == TURBO else described
        with ExitStack() as stack:
            if variant in PATCHED:
                where, instead = PATCHED[variant]
                stack.enter_context(mock.patch(f"numapredict.collect.modelled.{where}", instead))
            model = ModelledMachine(description)
            runs = [model.run(program, mapping) for mapping in mappings_of(description)]
        found[variant] = [run.repetitions[0].region_time_s or math.nan if run.repetitions else math.nan for run in runs]
    return found


def known_by(machine: str, jobs: int) -> dict[str, MachineGains]:
    """Return what the programs gain on a described machine, by what is left out."""
    description = load_description(machine)
    programs = codelet_programs(CODELETS, ("medium",), ("serial", "parallel"))
    programs += codelet_programs(APPLICATIONS, ("medium",), ("serial", "parallel"))
    with ProcessPoolExecutor(jobs) as pool:
        times = list(pool.map(partial(times_of, machine=machine), programs))
    mappings = mappings_of(description)
    known = {}
    for variant in VARIANTS:
        time_s = np.array([each[variant] for each in times])
        whole = np.isfinite(time_s).all(axis=1)
        known[variant] = MachineGains(
            machine=machine,
            modelled=True,
            topology=description.topology,
            default=mappings[0].label,
            mappings=tuple(mapping.label for mapping in mappings),
            groups=tuple(program.group for program, kept in zip(programs, whole, strict=True) if kept),
            numbers=numbers_of(np.log2(time_s[whole][:, :1] / time_s[whole])),
        )
    known[SMT] = without_smt(known[AS_IT_IS])
    return known


def without_smt(known: MachineGains) -> MachineGains:
    """Return the gains of the mappings with one thread a core."""
    kept = [n for n, mapping in enumerate(known.parsed) if mapping.threads_per_core == 1]
    return msgspec.structs.replace(
        known, mappings=tuple(known.mappings[n] for n in kept), numbers=numbers_of(known.gains[:, kept])
    )


def captured(machine: str, known: dict[str, MachineGains]) -> dict[str, str]:
    """Return a line of gain captured on a measured machine, by what its search's knowledge leaves out."""
    observations, default, pairs = measured_machine(machine)
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(len(pairs.pairs)), (ORDERS, 1)), axis=1)
    lines = {}
    for variant, gains in known.items():
        trials = []
        for order in orders:
            shuffled, at = in_order(observations, order), int(np.flatnonzero(order == default)[0])
            space = Space(tuple(map(pairs.of, shuffled.mappings)), pairs.topology, modelled=False)
            trials.append(searched(shuffled, at, foreign_knowledge(space, at, [gains])))
        mean = Trials(*(np.mean([getattr(each, what) for each in trials], axis=0) for what in ("gain", "cost")))
        lines[variant] = row(f"{machine}, without {variant}".replace("without as", "as"), observations, default, mean)
    return lines


@click.command()
@click.option("--machine", default="cascadelake-2x28", help="The described machine whose programs a search knows.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, help="Processes that trace.")
def main(machine: str, jobs: int) -> None:
    """Print the tables."""
    known = known_by(machine, jobs)
    whole = known[AS_IT_IS]
    click.echo(f"{len(whole.groups)} programs on {machine}, {len(whole.mappings)} mappings, modelled")
    click.echo("change of the gain over the default, log2: median over programs of the largest one, and largest of all")
    for variant in VARIANTS[1:]:
        off = np.abs(known[variant].gains - whole.gains).max(axis=1)
        same = (known[variant].gains.argmax(axis=1) == whole.gains.argmax(axis=1)).sum()
        click.echo(f"without {variant:52}{np.median(off):5.2f}  {off.max():5.2f}   same best mapping {same}")
    click.echo(f"{'gain captured after runs':60}{'  '.join(f'{runs:5}' for runs in SHOWN)}")
    for target in measured.DEFAULTS:
        for line in captured(target, known).values():
            click.echo(line)


if __name__ == "__main__":
    main()
