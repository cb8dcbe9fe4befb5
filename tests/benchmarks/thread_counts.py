"""Which number of threads a program wants on a described machine, modelled, and what synchronisation has to do with it.

`python -m tests.benchmarks.thread_counts MACHINE COMMAND...`: the time of the parallel regions with consecutive threads
on the fewest nodes and on all, pages by first touch, with the costs of regions and barriers as described and with none.
"""

import click
import msgspec

from numapredict.collect.binding import mapping_on
from numapredict.collect.mapping import Mapping
from numapredict.collect.modelled.description import MachineDescription, TeamCost, load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.modelled.tracing import TraceBudget
from numapredict.collect.program import Program, program_of
from tests.benchmarks.table import table

FREE = (TeamCost(2, 1, 0.0, 0.0, 0.0, 0.0),)


def counts(description: MachineDescription) -> list[int]:
    """Return powers of two, and the cores of one node and of all."""
    topology = description.topology
    one, whole = len(topology.cpu_nodes[0].cores), topology.core_count
    return sorted({count for count in (1, 2, 4, 8, 16, 32, 64, 128, one, whole) if count <= whole})


def region_ms(machine: ModelledMachine, program: Program, mapping: Mapping) -> float:
    """Return the modelled time of the program's parallel regions."""
    measurement = machine.run(program, mapping)
    if measurement.region_time_s is None:
        raise click.ClickException(f"{mapping}: {measurement.message or measurement.status}")
    return measurement.region_time_s * 1e3


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("machine")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def main(machine: str, command: tuple[str, ...]) -> None:
    description = load_description(machine)
    program = program_of(command)
    store = TraceStore(description, TraceBudget(census_s=60.0, trace_s=120.0))
    with_costs = ModelledMachine(description, store)
    without = ModelledMachine(msgspec.structs.replace(description, team_costs=FREE), store)
    rows = []
    for threads in counts(description):
        for binding in ("close", "spread") if 1 < threads < description.topology.core_count else ("close",):
            mapping = mapping_on(description.topology, f"{binding}:{threads}")
            times = region_ms(with_costs, program, mapping), region_ms(without, program, mapping)
            rows.append((mapping.label, f"{times[0]:.2f}", f"{times[1]:.2f}", f"{1 - times[1] / times[0]:.0%}"))
    unique = list(dict.fromkeys(rows))
    click.echo(f"{' '.join(command)} on {machine}, modelled, ms in parallel regions\n")
    click.echo(table(("mapping", "as described", "free synchronisation", "its part"), unique))
    best = min(unique, key=lambda row: float(row[1])), min(unique, key=lambda row: float(row[2]))
    click.echo(f"fastest: {best[0][0]} as described, {best[1][0]} with free synchronisation")


if __name__ == "__main__":
    main()
