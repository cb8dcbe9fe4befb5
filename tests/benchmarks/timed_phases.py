"""What a plan gains that moves an array between two phases, in a timed guest, by its clock.

`python -m tests.benchmarks.timed_phases guest-2x2`. The program's phases want the array on different nodes; it runs
under a plan that moves it and under the two plans that leave it where one phase wants it, in turn. The figures are
those of a timed guest, of no hardware.
"""

import subprocess
import tempfile
from pathlib import Path

import click

from numapredict.collect.placing.placed_pages import parse_map
from numapredict.collect.placing.preload import PlacementFiles
from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.guest_output import guest_errors, named, parts
from tests.benchmarks.programs import HERE, compiled
from tests.benchmarks.timed_moves import Subject, placed_command
from tests.guest.machine import Guest
from tests.guest.timed.configuration import timing_of
from tests.preloaded import placed
from tests.region_plans import regions_of

KILOBYTES = 1024
PAGES = KILOBYTES // 4
MOVES = "moves"


def plans(program: Path, folder: Path) -> dict[str, str]:
    """Return the plans by name: the array in the parts of the threads, all on the first node, and moved between."""
    command = [str(program), str(KILOBYTES), "1", "1", "1"]
    _, stream, walk = regions_of(command, folder)
    settings = f"cpus=0*2;homes=0*2;threads=contiguous;pages=first-touch;nodes=0;map={folder / 'map'}"
    subprocess.run(command, env=placed(settings, 2), check=True, capture_output=True)
    (known,) = [one for one in parse_map((folder / "map").read_text()).ranges if one.pages == PAGES and one.kind == 1]
    head, half = "range {} {:016x} {} {} {}\n".format(*known.key, PAGES), PAGES // 2
    parts_of_threads, first = f"run 0 {half} 0\nrun {half} {PAGES - half} 1\n", f"run 0 {PAGES} 0\n"
    wants = "".join(f"region {one.key:016x} 0 0 0\nwant {n}\n" for n, one in enumerate((stream, walk)))
    return {
        MOVES: f"{wants}{head}place 0\n{parts_of_threads}place 1\n{first}",
        "stays with the streaming threads": f"{head}{parts_of_threads}",
        "stays on the first node": f"{head}{first}",
    }


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--passes", default=20, show_default=True, help="Regions of the first phase.")
@click.option("--walks", default=2, show_default=True, help="Regions of the second phase.")
@click.option("--json", "as_json", is_flag=True)
def main(machine: str, factor: float | None, rounds: int, passes: int, walks: int, as_json: bool) -> None:
    """Boot one guest and print the seconds of each way, and what the others take over the plan that moves."""
    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-phases-") as name:
        timing, folder = timing_of(machine, factor), Path(name)
        (folder / "guest").mkdir()
        program = compiled(HERE / "timed_phases.c", folder)
        subject = Subject(timing.machine, folder, rounds)
        command = subject.words(program.name, KILOBYTES, 2, passes, walks)
        commands = []
        for number, (way, text) in enumerate(plans(program, folder).items()):
            (folder / f"plan{number}").write_text(f"numaplace-plan 3\n{text}")
            files = PlacementFiles(plan=str(folder / f"plan{number}"))
            words = placed_command(subject.placed("first-touch", files), command)
            commands.append(f"{named(way)}\n{words} || echo failed: {way} >&2")
        script = "\n".join(commands * rounds)
        guest = Guest(timing.shape(), ("numa_balancing=disable", "transparent_hugepage=never"), timing)
        result = guest.run(["sh", "-c", script], folder / "guest", {"GUEST_PAYS": program.name}, 7200)
        if len(set(result.stderr.splitlines())) != 1:  # what the program computes
            raise SystemExit(result.stderr.decode())
        times: dict[str, list[float]] = {}
        for way, lines in parts(result.stdout.decode()):
            times.setdefault(way, []).extend(map(float, lines))
        figures = [Figure(f"timed guest: {way}", "s", tuple(its)) for way, its in times.items()]
        figures += [
            ratios(f"timed guest: {way} over the plan that moves", its, times[MOVES], "above 1")
            for way, its in times.items()
            if way != MOVES
        ]
        show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
