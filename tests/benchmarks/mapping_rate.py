"""How many mappings a second the modelled machine answers, once a program is traced."""

import tempfile
import time
from pathlib import Path

import click

from numapredict.collect.mapping import Mapping
from numapredict.collect.modelled.description import load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.program import Program, program_of
from numapredict.collect.space import full_space
from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import EXAMPLES, compiled

MACHINE = "sandybridge-4x8"


def seconds(machine: ModelledMachine, program: Program, space: tuple[Mapping, ...]) -> float:
    """Return the time that a machine takes for a program under all mappings."""
    began = time.perf_counter()
    for mapping in space:
        measurement = machine.run(program, mapping)
        if measurement.status != "ok":
            raise click.ClickException(f"{mapping.label}: {measurement.message}")
    return time.perf_counter() - began


@click.command()
@click.argument("command", nargs=-1)
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(command: tuple[str, ...], rounds: int, as_json: bool) -> None:
    """Measure the mappings a second for COMMAND, or for the example heat.c."""
    description = load_description(MACHINE)
    space = full_space(description.topology)
    cold_s, warm_s = [], []
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        program = program_of(command or (str(compiled(EXAMPLES / "heat.c", folder)),))
        store = TraceStore(description, folder=folder / "traces")
        began = time.perf_counter()
        for threads in sorted({mapping.threads for mapping in space}):
            store.trace(program, threads)
        traced_s = time.perf_counter() - began
        for _ in range(rounds):
            machine = ModelledMachine(description, store)
            for threads in sorted({mapping.threads for mapping in space}):
                machine.traced(program, threads)
            cold_s.append(seconds(machine, program, space))
            warm_s.append(seconds(machine, program, space))
    figures = (
        Figure(
            "mappings a second, each for the first time", "/s", tuple(len(space) / s for s in cold_s), "at least 500"
        ),
        Figure("mappings a second, again", "/s", tuple(len(space) / s for s in warm_s)),
        ratios("first time over again", cold_s, warm_s),
        Figure(f"all traces before ({len(space)} mappings)", "s", (traced_s,)),
    )
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
