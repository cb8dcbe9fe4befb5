"""What a placed run costs programs that gain nothing by it: workers of every kind, threads that come and go, quotas.

All is in one script for a shell, which runs here, in a guest with several nodes (`--guest`), or on another computer
(`--emit FOLDER`, and there `bash FOLDER/rounds`; `--read FOLDER/rounds.lines` makes the table). In each round each
program runs once as it is and once under each mapping, in turn. The clock is around the program: what `numapredict run`
takes before it starts is `startup`'s.
"""

import itertools
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import resolve
from numapredict.collect.placing.adapt_table import AdaptTable, write_table
from numapredict.collect.placing.page_plan import plan_of
from numapredict.collect.placing.plan_file import Plan, write_plan
from numapredict.collect.placing.preload import PlacementFiles, adapting_environment, preload_environment
from numapredict.collect.placing.profile_file import read_profile
from numapredict.collect.space import full_space
from numapredict.collect.topology import Topology
from numapredict.native.library import placement_library
from tests.benchmarks.programs import HERE, compiled
from tests.guest.batch import topology_of
from tests.guest.machine import ENVIRONMENT, Guest
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES
from tests.preloaded import placed
from tests.shapes import shape

PLAIN = "as it is"
GOAL = 1.03
CHURN = 3000
QUOTA = """
folder=/sys/fs/cgroup/cpu/harm limit=cpu.cfs_quota_us
if [ ! -d /sys/fs/cgroup/cpu ]; then folder=/sys/fs/cgroup/harm limit=cpu.max; fi
"""
HEAD = """
one() { # CASE WAY ENVIRONMENT... COMMAND...
    case=$1 way=$2; shift 2
    before=$(date +%s%N)
    env "$@" >/dev/null 2>"$0.said" || { echo "$case|$way|failed: $(tail -n 1 "$0.said")" >>"$0.lines"; return; }
    echo "$case|$way|$(($(date +%s%N) - before))" >>"$0.lines"
}
"""


def cases(program: str, cpus: int, units: int, python: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Return the name and the command of each program."""
    teams = sorted({(cpus, 1), (max(cpus // 2, 1), 2), (max(cpus // 4, 1), 4), (cpus, 2), (cpus + 1, 1)})
    for workers, threads in teams:
        size = f"{workers} of {threads}"
        work = f"{program} work {threads} {units}"
        yield f"forked, {size}", [program, "forked", str(workers), str(threads), str(units)]
        yield f"sh &, {size}", ["sh", "-c", f"for n in $(seq {workers}); do {work} & done; wait"]
        yield f"xargs -P, {size}", ["sh", "-c", f"seq {workers} | xargs -P {workers} -I{{}} {work}"]
        if threads <= 2 and workers <= cpus:
            for way in python:
                words = (way, workers, threads, units, f"{program}.so")
                yield f"Python, {way}, {size}", ["python3", f"{program}_workers.py", *map(str, words)]
    yield "a process that does nothing", [program, "work", "1", "0"]
    yield f"a team of {cpus}", [program, "work", str(cpus), str(units * cpus // 2)]
    yield "a team of 1", [program, "work", "1", str(units)]
    yield f"a team of {2 * cpus}", [program, "work", str(2 * cpus), str(units * cpus // 2)]
    yield f"teams of 1 to {cpus} in turn", [program, "sizes", str(cpus), str(units)]
    yield f"{CHURN} threads, one by one", [program, "churn", str(CHURN)]
    yield "threads that bind themselves", [program, "binds", str(cpus), str(units)]
    quota = f"echo $$ >$folder/cgroup.procs; exec {program} work {cpus} {units}"
    yield "a quota of half the CPUs", ["sh", "-c", quota]


def script(
    folder: Path,
    topology: Topology,
    size: tuple[int, int, Sequence[str]],
    python: Sequence[str],
    claims: str,
    extra: dict[str, str],
) -> str:
    """Return the script for a computer of this topology that sees the folder; ``size``: rounds, units, and how the
    names of the only programs begin, all if none."""
    rounds, units, only = size
    program = compiled(HERE / "harm.c", folder)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", HERE / "harm.c", "-o", f"{program}.so"], check=True)
    shutil.copy(HERE / "harm_workers.py", f"{program}_workers.py")
    library = folder / "libnumaplace.so"
    shutil.copy(placement_library(), library)
    cpus = sum(len(core.pus) for node in topology.nodes for core in node.cores)
    ways = dict(variables(folder, str(program), topology, cpus, str(library), claims))
    lines = [HEAD, *(f"export {name}={shlex.quote(value)}" for name, value in extra.items()), QUOTA]
    lines += [
        "export folder",
        f'mkdir -p $folder 2>/dev/null && {{ if [ $limit = cpu.max ]; then echo "{cpus * 50000} 100000"; '
        f"else echo {cpus * 50000}; fi >$folder/$limit; }} || folder=",
        f"for round in $(seq {rounds}); do",
    ]
    for (name, command), (way, environment) in itertools.product(
        cases(str(program), cpus, units, python), ways.items()
    ):
        if only and not any(name.startswith(one) for one in only):
            continue
        words = [name, way, *(f"{key}={value}" for key, value in environment.items()), *command]
        lines.append(("[ -z $folder ] || " if "quota" in name else "") + "one " + shlex.join(words))
    return "\n".join([*lines, "done", "[ -z $folder ] || rmdir $folder"])


def variables(
    folder: Path, program: str, topology: Topology, cpus: int, library: str, claims: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Return the variables of each way to run a program on the whole of a computer."""
    yield PLAIN, {}
    files = PlacementFiles(claims=claims)
    whole = [one for one in full_space(topology) if one.threads == cpus and one.thread_policy == "contiguous"]
    for policy in dict.fromkeys(one.page_policy for one in whole):
        mapping = next(one for one in whole if one.page_policy == policy)
        yield mapping.label, preload_environment({}, resolve(mapping, topology), library, files)
    by_plan = msgspec.structs.replace(planned(folder, program, whole[0], topology), claims=claims)
    yield "a plan", preload_environment({}, resolve(whole[0], topology), library, by_plan)
    if len(topology.memory_nodes) > 1:
        base = resolve(next(one for one in whole if one.page_policy == "locality"), topology)
        columns = tuple((resolve(one, topology), 0) for one in whole if not FACTS[one.page_policy].decided_by)
        promised = (0.0, *(0.5 for _ in columns))  # worth a trial for every program
        table_file = folder / "mappings"
        write_table(AdaptTable(share=0.05, quiet_s=0.3, columns=columns, known=((1.0, promised),)), base, table_file)
        files = PlacementFiles(adapt=str(table_file), claims=claims)
        yield "--adapt", adapting_environment({}, base, library, files)


def planned(folder: Path, program: str, mapping: Mapping, topology: Topology) -> PlacementFiles:
    """Return the files of a run under the plan that a profile of the program gives."""
    profile, plan = folder / "profile", folder / "plan"
    cpus = sorted(os.sched_getaffinity(0))
    listed = ",".join(str(cpus[slot % len(cpus)]) for slot in range(mapping.threads))
    settings = f"cpus={listed};homes=0*{mapping.threads};threads=contiguous;pages=bind;nodes=0;profile={profile}"
    subprocess.run([program, "work", str(mapping.threads), "4"], env=placed(settings, mapping.threads), check=True)
    found = plan_of(read_profile(profile), resolve(mapping, topology))
    write_plan(Plan(topology.fingerprint, topology.name, mapping.label, pages=found), plan)
    return PlacementFiles(plan=str(plan))


def table(lines: Sequence[str]) -> Iterator[str]:
    """Return each program's times over its own as it is, the worst first, and what failed."""
    times: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        name, way, value = line.split("|", 2)
        if value.startswith("failed"):
            yield f"{name}, {way}: {value}"
            continue
        times.setdefault((name, way), []).append(int(value) / 1e9)
    for name in dict.fromkeys(name for name, _ in times):
        plain = times[name, PLAIN]
        yield f"{name}: {statistics.median(plain):.3f} s as it is ({min(plain):.3f} to {max(plain):.3f})"
        rows = []
        for (of, way), found in times.items():
            if of == name and way != PLAIN:
                ratios = [a / b for a, b in zip(found, plain, strict=False)]  # the last round may be cut
                rows.append((statistics.median(ratios), min(ratios), max(ratios), way))
        for median, least, most, way in sorted(rows, reverse=True):
            mark = "   <-- slower" if median > GOAL else ""
            yield f"    {way:36} {median:6.3f} ({least:.3f} to {most:.3f}, {len(plain)} rounds){mark}"


def one_node(cpus: int) -> Topology:
    """Return the topology of a computer with one node, by the operating system's numbers."""
    made = shape((cpus,))
    return msgspec.structs.replace(made, nodes=tuple(msgspec.structs.replace(node, os_index=0) for node in made.nodes))


@click.command()
@click.option("--rounds", default=7, show_default=True)
@click.option("--units", default=300, show_default=True, help="work of each worker; a unit is 1 to 2 ms of one thread")
@click.option("--only", multiple=True, metavar="NAME", help="only programs whose names begin so; repeatable")
@click.option("--guest", metavar="SHAPE", help="run in a guest: 2x4 has 2 nodes of 4 CPUs")
@click.option("--emit", type=click.Path(path_type=Path), help="write the script for --cpus CPUs of one node, and end")
@click.option("--cpus", default=16, show_default=True)
@click.option(
    "--read", type=click.Path(exists=True, path_type=Path), help="make the table of lines that a script wrote"
)
def main(
    *,
    rounds: int,
    units: int,
    only: tuple[str, ...],
    guest: str | None,
    emit: Path | None,
    cpus: int,
    read: Path | None,
) -> None:
    """Measure what placed runs cost programs that gain nothing."""
    every = ("fork", "spawn", "forkserver")
    if read is not None:
        click.echo("\n".join(table(read.read_text().splitlines())))
        return
    if emit is not None:
        emit.mkdir(parents=True, exist_ok=True)
        topology = one_node(cpus)
        text = script(emit, topology, (rounds, units, only), every, "/dev/shm/harm.lock", {})  # noqa: S108 - that computer's
        (emit / "rounds").write_text(text)
        return
    with tempfile.TemporaryDirectory(prefix="numapredict-harm-") as name:
        folder = Path(name)
        if guest is None:
            path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
            text = script(
                folder, host_topology(), (rounds, units, only), (*every, "joblib"), str(folder / "claims"), path
            )
            (folder / "rounds").write_text(text)
            subprocess.run(["bash", folder / "rounds"], check=True)
        else:
            of = Shape.parse(guest)
            locks = "/dev/shm/harm.lock"  # noqa: S108 - the guest's
            text = script(folder, topology_of(of), (rounds, units, only), (), locks, ENVIRONMENT)
            (folder / "rounds").write_text(text)
            Guest(of, SMALL_PAGES).run(["bash", str(folder / "rounds")], folder, timeout_s=7200)
        click.echo("\n".join(table((folder / "rounds.lines").read_text().splitlines())))


if __name__ == "__main__":
    main()
