"""numapredict alone on a new NUMA server, which is a timed guest: each command, what it said, and what was gained.

`python -m tests.benchmarks.timed_session guest-2x2`. The figures are those of a timed guest, of no hardware.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from tests.benchmarks.guest_output import Lines, guest_errors
from tests.benchmarks.programs import compiled
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of
from tests.guest.timed_session import Said

PROGRAMS = Path(__file__).parents[1] / "guest" / "programs"
LEARNED = ("stream serial", "update parallel", "gather serial", "compute serial")
LIMIT_S = 7200
COLUMNS = 150


def rows(session: Sequence[Said]) -> Iterator[str]:
    """Yield the table: command, exit code, seconds by the guest's clock, and the line that says most."""
    yield f"{'command':32} {'exit':>4} {'guest s':>8}  answer"
    for said in session:
        yield f"{_command(said):32} {said.exit_code:4} {said.time_s:8.1f}  {_answer(said)}"[:COLUMNS]


def gain(session: Sequence[Said]) -> str:
    """Return what the answer measured, round by round, by the guest's clock."""
    found = next((s for s in session if s.words[:2] == ("predict", "--json") and s.exit_code == 0), None)
    if found is None:
        return "there was no answer"
    advice = json.loads(found.output)
    confirmed = advice["confirmation"]
    if confirmed is None:
        return "no mapping that ran was faster: keep what you have"
    if confirmed["speedup"] is None:
        return f"{confirmed['mapping']} could not be confirmed: {confirmed['reason']}"
    return (
        f"timed guest: as it is now {statistics.median(confirmed['baseline_s']):.3f} s, under {confirmed['mapping']} "
        f"{statistics.median(confirmed['mapping_s']):.3f} s; measured gain {confirmed['speedup']:.2f}x "
        f"({confirmed['low']:.2f}x to {confirmed['high']:.2f}x); {'advised' if confirmed['won'] else 'not advised'}"
    )


def _command(said: Said) -> str:
    """Return a command's subcommand and the options that tell it from others; of a program, its file name."""
    first = Path(said.words[0]).name
    options = [word for word in said.words if word in {"--dry-run", "--budget", "--json"}]
    mapping = [said.words[2]] if said.words[:2] == ("run", "--mapping") else options
    return " ".join([first, *mapping])


def _answer(said: Said) -> str:
    """Return why a command failed, or the line of its answer that says most."""
    if said.exit_code:
        return (said.errors.strip() or "nothing").splitlines()[-1]
    lines = [line.strip() for line in (said.output if "--json" not in said.words else said.errors).splitlines()]
    marked = [line for line in lines if line.startswith(("! ", "best mapping", "measured gain"))]
    told = [line.split("  ")[0] if line.startswith("! ") else line for line in marked] or [
        line for line in lines if line
    ]
    return "; ".join(told) if marked else (told or ["nothing"])[0 if said.words[0] == "topology" else -1]


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--app", default="initialised serial 2048 20", show_default=True, help="The program to ask about.")
@click.option("--balancing/--no-balancing", default=True, show_default=True, help="The kernel's automatic balancing.")
def main(machine: str, factor: float | None, app: str, balancing: bool) -> None:
    """Boot one guest, go through the session, and print everything that was said, a table, and the gain."""
    session: list[Said] = []

    def take(line: str) -> None:
        said = msgspec.json.decode(line, type=Said)
        session.append(said)
        click.echo(f"$ numapredict {' '.join(said.words)}\n{said.output}{said.errors}")

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-session-") as name:
        timing = timing_of(machine, factor)
        folder = Path(name)
        for program in ("initialised", "patterns"):
            compiled(PROGRAMS / f"{program}.c", folder)
        (folder / "guest").mkdir()
        learned = [f"{folder}/patterns {pattern} 1024 3" for pattern in LEARNED]
        command = [sys.executable, "-m", "tests.guest.timed_session", f"{folder}/{app}", *learned]
        guest = Guest(timing.shape(), () if balancing else ("numa_balancing=disable",), timing)
        environment = python_environment() | {"GUEST_PAYS": "initialised:patterns"}
        try:
            result = guest.run(command, folder / "guest", environment, LIMIT_S, (Lines(take), sys.stderr.buffer))
        finally:
            click.echo("\n".join([*rows(session), gain(session)]))
    click.echo(f"booted in {result.boot_s:.1f} s, ended after {result.total_s:.1f} s")
    if result.exit_code:
        raise SystemExit(f"exit code {result.exit_code}")


if __name__ == "__main__":
    main()
