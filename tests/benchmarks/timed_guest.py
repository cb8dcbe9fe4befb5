"""A timed guest against its description: what a program measures by the guest's clock, over what it should.

`python -m tests.benchmarks.timed_guest guest-2x2`. The figures are those of a timed guest, of no hardware.
"""

import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, show
from tests.guest.machine import Guest
from tests.guest.timed.checks import built_probe, checks, probe_words
from tests.guest.timed.configuration import timing_of

MEMORY_MB = 384


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(machine: str, factor: float | None, rounds: int, as_json: bool) -> None:
    """Boot one guest and print, for each figure of the description, measured / described."""
    timing = timing_of(machine, factor)
    wanted = tuple(checks(timing))
    with tempfile.TemporaryDirectory(prefix="numapredict-timed-") as name:
        program = built_probe(Path(name))
        folder = Path(name) / "guest"
        folder.mkdir()
        script = "\n".join(["set -e", *(probe_words(program, check, timing, rounds) for check in wanted)])
        guest = Guest(timing.shape(MEMORY_MB), ("numa_balancing=disable",), timing)
        result = guest.run(["sh", "-c", script], folder, timeout_s=3600)
        if result.exit_code != 0:
            raise SystemExit(f"exit code {result.exit_code}: {result.stderr.decode()}")
        measured = [float(line) for line in result.stdout.decode().splitlines()]
        figures = [
            Figure(
                f"timed guest, {check.name}",
                "",
                tuple(value / check.expected for value in measured[index * rounds : (index + 1) * rounds]),
                "0.9 to 1.1",
            )
            for index, check in enumerate(wanted)
        ]
        seconds = Figure("the whole guest", "s", (result.total_s,))
        show([*figures, seconds], as_json=as_json)


if __name__ == "__main__":
    main()
