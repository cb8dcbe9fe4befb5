"""Runs programs under the mappings of guests of several shapes, two guests at a time: `python -m tests.guest.sweep`.

Prints one line for each shape and program: how many mappings, and how many pages and threads stood where they should.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from numapredict.native.library import codelets_program
from tests.guest.batch import Batch, answer_of
from tests.guest.placements import Outcome, Request, Subject, prepared
from tests.guest.shape import Shape

SOURCES = Path(__file__).parent / "programs"
CODELETS = ("stream-triad", "histogram", "pointer-chase")
SWEEP_S = 3600
MIX_SHARE = 0.8
# 4 KB pages, so that each can be judged by itself; a request may ask for huge ones.
SMALL_PAGES = ("transparent_hugepage=never", "numa_balancing=disable")


@dataclass(frozen=True)
class Errand:
    """One boot: the requests that it runs on a shape, one after the other."""

    shape: str
    requests: tuple[Request, ...]
    distances: str = ""
    memory_only: int = 0
    order: tuple[int, ...] = ()  # of its nodes for hwloc


def built_subjects(folder: Path) -> tuple[Subject, ...]:
    """Compile the programs: a grid with gcc and clang, static arrays, C++ vectors, arrays that come later."""
    built = {
        "grid-gcc": ("gcc", "grid.c"),
        "grid-clang": ("clang", "grid.c"),
        "static-arrays": ("gcc", "static_arrays.c"),
        "vectors": ("g++", "vectors.cpp"),
        "later": ("clang", "later.c"),
    }
    for name, (compiler, source) in built.items():
        subprocess.run([compiler, "-O2", "-fopenmp", "-o", folder / name, SOURCES / source, "-lnuma"], check=True)
    return (
        Subject("grid-gcc", (str(folder / "grid-gcc"), "64", "2", "3"), owned=True, tells=True),
        Subject("grid-clang", (str(folder / "grid-clang"), "64", "2"), owned=True, tells=True),
        Subject("static-arrays", (str(folder / "static-arrays"),), owned=True, touched_by_owner=True, tells=True),
        Subject("vectors", (str(folder / "vectors"),), tells=True),
        Subject("later", (str(folder / "later"), "64", "4"), owned=True, tells=True),
    )


def codelet_subjects(names: Sequence[str] = CODELETS) -> tuple[Subject, ...]:
    """Return codelets in their smallest size."""
    program = str(codelets_program())
    return tuple(Subject(name, (program, name, "--size", "small", "--iterations", "2")) for name in names)


def run(errands: Sequence[Errand], guests: int = 2) -> tuple[tuple[tuple[str, Outcome], ...], ...]:
    """Return the outcomes of all requests of all errands, each outcome with its shape; so many guests at a time."""
    with ThreadPoolExecutor(guests) as pool:
        booted = list(pool.map(_boot, errands))
    return tuple(
        tuple((errand.shape, outcome) for outcome in found)
        for errand, answers in zip(errands, booted, strict=True)
        for found in answers
    )


def problems(outcomes: Sequence[tuple[str, Outcome]], share: float = 0.99) -> list[str]:
    """Return in a line each what did not behave as without the library, or stood elsewhere than the mapping says."""
    found = []
    for shape, outcome in outcomes:
        said = []
        if not outcome.same:
            said.append(f"it behaved differently: {outcome.message}")
        if outcome.threads_wrong or not outcome.threads_right:
            said.append(f"threads: {outcome.threads_right} right, {outcome.threads_wrong} wrong")
        if not outcome.pages or outcome.placed < share * outcome.pages:
            said.append(f"pages: {outcome.placed} of {outcome.pages} placed, {outcome.loads} by node")
        if outcome.kept < share * outcome.decided:
            said.append(f"decisions: {outcome.kept} of {outcome.decided} kept")
        # Next touch may find a page shared that a thread of another node only looked at: mix then balances it.
        least = MIX_SHARE if "-mix" in outcome.label else share
        if outcome.silent or outcome.reported_right < least * outcome.reported:
            said.append(f"by the program's own word: {outcome.reported_right} of {outcome.reported} pages placed")
        found += [f"{shape} {outcome.subject} {outcome.label}: {text}" for text in said]
    return found


def _boot(errand: Errand) -> list[list[Outcome]]:
    with tempfile.TemporaryDirectory(prefix="numapredict-sweep-") as name:
        batch = Batch(Shape.parse(errand.shape, errand.distances, errand.memory_only), Path(name), errand.order)
        answers = [prepared(request, batch) for request in errand.requests]
        for answer in answers:
            next(answer)
        batch.run(SMALL_PAGES, SWEEP_S)
        return [answer_of(answer) for answer in answers]


@click.command()
@click.option("--shape", "shapes", multiple=True, default=["4x4", "2x4"], show_default=True)
@click.option("--every", default=1, show_default=True, help="Only every N-th mapping.")
@click.option("--codelets/--no-codelets", default=True, show_default=True)
def main(shapes: tuple[str, ...], every: int, codelets: bool) -> None:
    """Run the programs under the mappings of guests and say how all stood."""
    with tempfile.TemporaryDirectory(prefix="numapredict-programs-") as name:
        subjects = (*built_subjects(Path(name)), *(codelet_subjects() if codelets else ()))
        parts = [(shape, Request(subjects, part=half * every, of=2 * every)) for shape in shapes for half in range(2)]
        outcomes = [found for part in run([Errand(shape, (part,)) for shape, part in parts]) for found in part]
    for shape in shapes:
        for subject in subjects:
            found = [outcome for where, outcome in outcomes if where == shape and outcome.subject == subject.name]
            click.echo(
                f"{shape} {subject.name}: {len(found)} mappings,"
                f" pages {sum(o.placed for o in found)} of {sum(o.pages for o in found)},"
                f" least {min(o.placed / max(o.pages, 1) for o in found):.4f},"
                f" threads {sum(o.threads_right for o in found)} right {sum(o.threads_wrong for o in found)} wrong,"
                f" same behaviour {sum(o.same for o in found)}"
            )
    for line in problems(outcomes):
        click.echo(line)


if __name__ == "__main__":
    if shutil.which("clang") is None:
        raise SystemExit("the sweep needs clang and libomp-dev")
    main()
