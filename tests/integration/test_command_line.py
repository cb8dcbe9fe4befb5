"""The command line as a user meets it: real programs, real traces, and one clear line for each mistake."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.planted import planted_dataset
from tests.profiles import profile_bytes
from tests.warm_start import COLD, warm

EXAMPLES = Path(__file__).parents[2] / "examples"
SANDY = ("--machine", "sandybridge-4x8")


BARE = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
"""For `python -S`: what the environment's own start-up loads is none of ours."""


def numapredict(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with its libraries loaded before; `cold` starts it as a user does."""
    return ended([*warm(), *words], cwd, **environment)


def cold(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start the installed command, as a user does."""
    return ended([*COLD, *words], cwd, **environment)


def ended(command: list[str], cwd: Path | None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )


def refusal(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """Return the one line on stderr that says what is wrong, after the lines that say what was being done."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("numapredict: ")]
    assert done.returncode == code, done
    assert len(lines) == 1
    assert lines[0] == done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return lines[0]


def compiled(folder: Path, name: str, text: str, *options: str, compiler: str = "gcc") -> Path:
    source = folder / f"{name}.c"
    source.write_text(text)
    program = folder / name
    subprocess.run([compiler, "-O2", str(source), "-o", str(program), *options], check=True, capture_output=True)
    return program


@pytest.fixture(scope="module")
def heat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped example, with nested data that one thread initialises, built with plain gcc."""
    program = tmp_path_factory.mktemp("heat") / "heat"
    source = EXAMPLES / "heat.c"
    subprocess.run(["gcc", "-O2", "-fopenmp", str(source), "-o", str(program), "-lm"], check=True)
    return program


@pytest.fixture(scope="module")
def particles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The other example, built with clang and so with libomp."""
    program = tmp_path_factory.mktemp("particles") / "particles"
    source = EXAMPLES / "particles.c"
    subprocess.run(["clang", "-O2", "-fopenmp", str(source), "-o", str(program), "-lm"], check=True)
    linked = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True).stdout
    assert "libomp" in linked
    return program


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("example", ["heat", "particles"])
def test_advice_on_a_program_that_is_no_codelet(example: str, request: pytest.FixtureRequest) -> None:
    program: Path = request.getfixturevalue(example)
    done = numapredict(*SANDY, "--json", str(program))
    assert done.returncode == 0, done.stderr
    advice = json.loads(done.stdout)
    assert advice["machine"] == "sandybridge-4x8"
    assert advice["modelled"] is True
    assert advice["default"] == "32x4-contiguous-first-touch"
    speedup = advice["expected_speedup"]
    assert 0 < speedup["low"] <= speedup["median"] <= speedup["high"]
    assert len(advice["cluster"]["members"]) >= 1
    assert len({probe["mapping"] for probe in advice["probes"]}) == 2
    assert all(probe["time_s"] == probe["features"]["time_s"] > 0 for probe in advice["probes"])
    assert advice["command"] == f"numapredict run --mapping {advice['mapping']} -- {program}"
    alternative = advice["alternative"]
    assert f"OMP_NUM_THREADS={alternative['mapping'].split('x')[0]} " in alternative["command"]
    assert alternative["command"].endswith(str(program))
    assert "probe 1 of 2" in done.stderr
    if example == "heat":  # its first thread fills all arrays
        assert (advice["explanation"]["pages"], advice["explanation"]["binds"]) == ("one node", "one node's bandwidth")
        assert advice["explanation"]["findings"][0]["evidence"]["home_share"] > 0.9

    words = numapredict(*SANDY, f"./{program.name}", cwd=program.parent)
    assert advice["mapping"] in words.stdout
    assert "(modelled)" in words.stdout
    assert "\n  why               " in words.stdout
    (hwloc,) = (other for other in advice["alternatives"] if other["tool"] == "hwloc")
    emitted = numapredict(*SANDY, "--emit", "hwloc", str(program))
    assert emitted.stdout == hwloc["command"] + "\n"
    assert ("cannot express" in emitted.stderr) != hwloc["exact"]
    kept = advice["mapping"] == advice["default"]
    assert ("that is what it gets today" if kept else f"{speedup['median']:.2f}x") in words.stdout


@pytest.mark.native
def test_the_program_keeps_its_own_options(tmp_path: Path) -> None:
    text = '#include <string.h>\nint main(int c, char **v) { return c == 3 && !strcmp(v[1], "--json") ? 5 : 6; }'
    program = compiled(tmp_path, "options", text)
    done = numapredict("run", "--mapping", "1x1-contiguous-bind", "--", str(program), "--json", "--machine")
    assert done.returncode == 5
    assert refusal(numapredict(*SANDY, str(program), "--json", "x")).count("exit code 5") == 1


@pytest.mark.native
def test_run_is_the_program_itself(tmp_path: Path) -> None:
    text = (
        "#include <stdio.h>\n#include <omp.h>\n#include <stdlib.h>\nint main(int c, char **v) {\n"
        '#pragma omp parallel\n#pragma omp single\nprintf("%d threads\\n", omp_get_num_threads());\n'
        "fflush(stdout); if (c > 1) abort(); return 3; }"
    )
    program = compiled(tmp_path, "placed", text, "-fopenmp")
    done = cold("run", "--mapping", "2x1-contiguous-bind", "--", str(program))
    assert (done.returncode, done.stdout, done.stderr) == (3, "2 threads\n", "")
    assert cold("run", "--mapping", "1x1-contiguous-bind", str(program), "x").returncode == -signal.SIGABRT


BROKEN = {
    "missing": ("no such file", None),
    "script": ("is a script", "#!/bin/sh\nexit 0\n"),
    "text": ("is neither an ELF program nor a script", "hello\n"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_no_program_gets_one_line(tmp_path: Path, kind: str) -> None:
    expected, text = BROKEN[kind]
    program = tmp_path / kind
    if text is not None:
        program.write_text(text)
        program.chmod(0o755)
    assert expected in refusal(numapredict(*SANDY, str(program)))


def test_a_file_that_may_not_be_executed_gets_one_line(tmp_path: Path) -> None:
    program = tmp_path / "plain"
    program.write_text("hello\n")
    assert "is not executable" in refusal(numapredict(*SANDY, str(program)))


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "text", "options", "expected"),
    [
        ("static", "int main(void) { return 0; }", ("-static",), "statically linked"),
        ("crash", "#include <stdlib.h>\nint main(void) { abort(); }", (), "SIGABRT"),
        ("serial", "int main(void) { return 0; }", (), "no OpenMP parallel region"),
        ("hang", "int main(void) { for (;;); }", (), "no parallel region within"),
    ],
)
def test_programs_that_cannot_be_advised_on(
    tmp_path: Path, name: str, text: str, options: tuple[str, ...], expected: str
) -> None:
    program = compiled(tmp_path, name, text, *options)
    assert expected in refusal(numapredict(*SANDY, "--budget", "5", str(program)))


@pytest.mark.native
def test_a_program_that_prints_megabytes_is_advised_on(tmp_path: Path) -> None:
    text = (
        "#include <stdio.h>\nint main(void) { static double a[1 << 20]; for (int k = 0; k < 4; k++)\n"
        "#pragma omp parallel for\nfor (int i = 0; i < 1 << 20; i++) a[i] += i;\n"
        'for (int i = 0; i < 300000; i++) { puts("0123456789 0123456789"); fputs("warning\\n", stderr); }'
        "return a[5] < 0; }"
    )
    program = compiled(tmp_path, "wordy", text, "-fopenmp")
    done = numapredict(*SANDY, str(program))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) + len(done.stderr) < 10_000


MISTAKES = {
    "unknown machine": (("--machine", "nosuch", "PROGRAM"), "unknown machine 'nosuch'"),
    "malformed machine": (("--machine", "BROKEN.toml", "PROGRAM"), "BROKEN.toml"),
    "missing machine file": (("--machine", "absent.toml", "PROGRAM"), "absent.toml"),
    "malformed model": ((*SANDY, "--model", "BROKEN.json", "PROGRAM"), "BROKEN.json"),
    "unknown model": ((*SANDY, "--model", "nosuch", "PROGRAM"), "unknown model 'nosuch'"),
    "model of another topology": (
        ("--machine", "broadwell-2x10", "--model", "sandybridge-4x8", "PROGRAM"),
        "sandybridge-4x8",
    ),
    "malformed label": (("run", "--mapping", "16y2", "--", "ls"), "'16y2' is not a mapping's label"),
    "mapping beyond this computer": (("run", "--mapping", "9999x1-contiguous-bind", "--", "ls"), "needs 9999 cores"),
    "unsupported page policy": (("run", "--mapping", "2x2-contiguous-mix", "--", "ls"), "2x2-contiguous-mix"),
    "malformed dataset": (("train", "--dataset", "."), "dataset.json is missing"),
    "unknown dataset": (("report", "clustermap", "--dataset", "absent"), "no dataset 'absent'"),
    "a figure of another format": (
        ("report", "topology", "--output", "a.pdf"),
        "a.pdf: figures are written as .png or",
    ),
    "a figure of an absent dataset": (("report", "related", "absent"), "no dataset 'absent'"),
    "a figure of an unknown machine": (("report", "topology", "--machine", "nosuch"), "unknown machine 'nosuch'"),
    "a figure of no mapping": (("report", "mapping", "16y2"), "'16y2' is not a mapping's label"),
    "a figure of a mapping too large": (
        ("report", "mapping", "33x4-scatter-mix", *SANDY),
        "33x4-scatter-mix needs 33 cores",
    ),
    "a figure by no profile": (
        ("report", "mapping", "32x4-scatter-mix", *SANDY, "--profile", "BROKEN.toml"),
        "BROKEN.toml is no whole page-access profile",
    ),
    "unknown option": (("--frob",), "--frob"),
    "missing option": (("run", "ls"), "--mapping"),
    "unknown codelet": (("collect", "campaign", "--into", "x", "--codelet", "nosuch"), "unknown codelet 'nosuch'"),
    "unknown space": (("collect", "campaign", "--into", "x", "--space", "nosuch"), "nosuch"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_line(tmp_path: Path, mistake: str) -> None:
    words, expected = MISTAKES[mistake]
    (tmp_path / "BROKEN.toml").write_text("name = [")
    (tmp_path / "BROKEN.json").write_text('{"schema_version": 1, "machine": ')
    program = shutil.which("ls") or "/bin/ls"
    assert expected in refusal(numapredict(*(program if word == "PROGRAM" else word for word in words), cwd=tmp_path))


def test_an_argument_that_is_no_text_gets_one_line() -> None:
    words = [*map(os.fsencode, COLD), b"--machine", b"sandybridge-4x8", b"ls", b"\xff.dat"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240)
    assert "is not UTF-8" in refusal(done)


def test_malformed_topology_gets_one_line(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xml"
    bomb.write_text('<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><topology>&b;</topology>')
    assert "bomb" in refusal(numapredict("topology", HWLOC_XMLFILE=str(bomb)))


def test_a_computer_with_one_node_has_nothing_to_place() -> None:
    one = {"HWLOC_SYNTHETIC": "node:1 core:4 pu:1"}
    for words in (("ls",), ("train",)):
        text = refusal(numapredict(*words, **one))
        assert "one NUMA node" in text
        assert "numapredict --machine broadwell-2x10" in text


def test_without_a_model_the_message_says_how_to_train_one(tmp_path: Path) -> None:
    four = {"HWLOC_SYNTHETIC": "node:4 core:6 pu:1", "NUMAPREDICT_DATA": str(tmp_path)}
    text = refusal(numapredict("ls", **four))
    assert "numapredict train makes one" in text
    assert "runs," in text
    assert "nearest topology is sandybridge-4x8" in text


def test_a_full_disk_and_a_closed_folder_get_one_line(tmp_path: Path) -> None:
    done = numapredict("report", "clustermap", "--dataset", "sandybridge-4x8", "--output", "/proc/figure.png")
    assert "/proc/figure.png" in refusal(done, 1)
    done = numapredict("train", "--dataset", "sandybridge-4x8", "--output", "/proc/model.json")
    assert "/proc/model.json" in refusal(done, 1)
    # /dev/full accepts an open and refuses every write with ENOSPC.
    code = (
        "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 1);"
        "from numapredict.predictor.command_line.main import main; sys.exit(main(['topology', '--list']))"
    )
    full = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=240)
    assert full.returncode == 1
    assert "No space left on device" in full.stderr
    assert "Traceback" not in full.stderr


@pytest.mark.native
def test_an_unwritable_trace_cache_gets_one_line(heat: Path) -> None:
    text = refusal(numapredict(*SANDY, str(heat), NUMAPREDICT_CACHE="/proc/nowhere"), code=1)
    assert "trace cache /proc/nowhere" in text


def test_help_loads_no_library_that_it_does_not_need() -> None:
    """What takes its time: the heavy ones, and those that every other command needs."""
    heavy = ("numpy", "sklearn", "pandas", "scipy", "msgspec", "click", "importlib.metadata", "pathlib", "shutil")
    code = (
        "import sys\nfrom numapredict.predictor.command_line.main import main\nmain(['--help'])\n"
        f"sys.stderr.write(' '.join(m for m in {heavy!r} if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=BARE)
    assert done.stderr == ""
    for command in ("collect", "evaluate", "predict", "report", "run", "topology", "train"):
        assert f"  {command} " in done.stdout


@pytest.mark.native
def test_codelets_are_listed_for_people_and_programs() -> None:
    people = numapredict("collect", "codelets").stdout
    listed = json.loads(numapredict("collect", "codelets", "--json").stdout)
    assert len(listed) >= 12
    assert all(codelet["name"] in people for codelet in listed)


@pytest.mark.native
def test_a_campaign_says_its_size_before_and_resumes_after(tmp_path: Path) -> None:
    words = (
        *("collect", "campaign", *SANDY, "--into", str(tmp_path / "data"), "--codelet", "stream-triad"),
        *("--size", "small", "--space", "diener"),
    )
    assert "2 runs to do" in numapredict(*words, "--dry-run").stdout
    assert not (tmp_path / "data").exists()
    first = numapredict(*words)
    assert first.returncode == 0, first.stderr
    assert (tmp_path / "data" / "measurements.parquet").exists()
    assert "0 runs to do, 2 finished earlier" in numapredict(*words, "--dry-run").stdout
    description = json.loads((tmp_path / "data" / "dataset.json").read_text())
    assert description["modelled"] is True
    assert str(tmp_path) not in json.dumps(description["programs"])


def test_the_fidelity_table_is_printed_or_written(tmp_path: Path) -> None:
    printed = numapredict("report", "fidelity", "--only", "ics19")
    assert printed.returncode == 0, printed.stderr
    assert "## ICS'19, fig. 7 and 8: sandybridge-4x8" in printed.stdout
    assert "Made by `numapredict report fidelity --only ics19`." in printed.stdout
    written = numapredict("report", "fidelity", "--only", "ics19", "--output", str(tmp_path / "table.md"), "--json")
    assert (tmp_path / "table.md").read_text() == printed.stdout
    found = json.loads(written.stdout)[0]
    assert found["machine"] == "sandybridge-4x8"
    assert {claim["met"] for claim in found["claims"]} <= {True, False}
    assert "none of forestgomp, mctop" in refusal(numapredict("report", "fidelity", "--only", "nobody"))
    unwritable = numapredict("report", "fidelity", "--only", "ics19", "--output", str(tmp_path / "no" / "table.md"))
    assert "cannot write the table" in refusal(unwritable, 1)


def test_somebody_s_table_is_imported_and_evaluated(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = [
        f"{code},{size},{policy},{threads},{(2 if policy == best else 3) * int(size) / int(threads)},{suspect}"
        for code, best in zip("abcdef", ("near", "far") * 3, strict=True)
        for size in ("1", "2")
        for policy in ("near", "far", "none")
        for threads in ("4", "8")
        for suspect in ("0", "1")
    ]
    table.write_text("\n".join(["code,size,policy,threads,time_ms,suspect", *rows]) + "\n")
    named = ("--program", "code,size", "--group", "code", "--mapping", "policy,threads", "--time", "time_ms")
    picked = ("--time-unit", "ms", "--drop-if", "suspect=1", "--default", "none-8", "--machine", "theirs")
    words = ("collect", "import", str(table), "-o", str(tmp_path / "data"), *named, *picked)
    done = numapredict(*words)
    assert done.returncode == 0, done.stderr
    assert "12 programs x 6 mappings; 144 rows, of which 72 dropped as suspect" in done.stderr
    assert "holds a dataset already" in refusal(numapredict(*words))
    saved = tmp_path / "new" / "evaluation.json"
    done = numapredict("evaluate", str(tmp_path / "data"), "--json", "--output", str(saved))
    found = json.loads(done.stdout)
    assert json.loads(saved.read_text()) == found
    assert str(saved) in done.stderr
    evaluation = found["datasets"][0]
    assert (evaluation["machine"], evaluation["default"], evaluation["programs"]) == ("theirs", "none-8", 12)
    assert evaluation["groups"] == 6
    assert found["gain_captured"] == pytest.approx(1.0)
    assert found["baselines"]["default"]["speedup"]["geometric"] == 1.0
    write_dataset(planted_dataset(5), tmp_path / "small")
    text = numapredict("evaluate", str(tmp_path / "data"), str(tmp_path / "data"), str(tmp_path / "small")).stdout
    assert "all 2 datasets together" in text  # a dataset named twice is one
    assert "thesis recipe" in text
    assert "cannot save the evaluation" in refusal(
        numapredict("evaluate", str(tmp_path / "data"), "--output", "/dev/full"), 1
    )
    assert "no dataset 'nowhere'" in refusal(numapredict("evaluate", "nowhere"))
    for other in (("train",), ("report", "clustermap")):
        assert "foreign mappings" in refusal(numapredict(*other, "--dataset", str(tmp_path / "data")))
    assert "is not COLUMN=VALUE" in refusal(numapredict(*words[:-2], "--where", "suspect"))


def test_the_thesis_s_curves_are_shown_and_drawn(tmp_path: Path) -> None:
    shown = numapredict("report", "sweeps", "sandybridge-4x8", "--figure", "curves.svg", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "default: 16x2-contiguous-locality" in (tmp_path / "curves.svg").read_text()
    curves = json.loads(numapredict("report", "sweeps", "sandybridge-4x8", "--json").stdout)
    assert [curve["features"] for curve in curves].count("times") == 3
    assert {curve["features"] for curve in curves} >= {"two_probes", "local_bandwidth_GBps"}
    six = next(point for point in curves[-1]["points"] if point["clusters"] == 6)
    row = next(line for line in shown.stdout.splitlines() if line.startswith("       6 "))
    assert row.endswith(f"{six['speedup_arithmetic']:.2f}x")


def test_an_evaluation_is_drawn(tmp_path: Path) -> None:
    write_dataset(planted_dataset(10, jitter=0.3), tmp_path / "planted")
    here = {"NUMAPREDICT_CACHE": str(tmp_path / "cache")}
    # The same dataset under two names is one, as for `evaluate`.
    words = ("report", "related", "planted", "./planted", "--json", "--output", "related.png")
    done = numapredict(*words, cwd=tmp_path, **here)
    assert done.returncode == 0, done.stderr
    (panel,) = json.loads(done.stdout)["panels"]
    assert (panel["programs"], panel["table"][3]["threads"]) == (10, [8, 16, 32])
    ours = next(bar["speedup"] for bar in panel["bars"] if bar["name"] == "two probes")
    table = numapredict("report", "related", "planted", cwd=tmp_path, **here).stdout
    assert f"{ours:.2f}x" in next(line for line in table.splitlines() if line.startswith("  two probes"))
    done = numapredict("report", "accuracy", "planted", "--json", "--output", "accuracy.svg", cwd=tmp_path, **here)
    found = json.loads(done.stdout)
    assert len(found["points"]) + found["kept"] == 10
    assert "10 held-out programs on planted-4x8 (modelled)" in (tmp_path / "accuracy.svg").read_text()
    assert (tmp_path / "related.png").read_bytes().startswith(b"\x89PNG")
    away = numapredict("report", "accuracy", "planted", "--output", "/proc/accuracy.png", cwd=tmp_path, **here)
    assert "/proc/accuracy.png" in refusal(away, 1)


def test_machines_and_mappings_are_drawn(tmp_path: Path) -> None:
    done = numapredict("report", "topology", *SANDY, "--json", "--output", "machine.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tables"][0]["rows"][0] == [101, 299, 329, 299]
    assert "read latency" in (tmp_path / "machine.svg").read_text()
    three = {"HWLOC_SYNTHETIC": "node:3 core:2 pu:1"}
    done = numapredict("report", "topology", "--json", cwd=tmp_path, **three)
    assert [table["title"] for table in json.loads(done.stdout)["tables"]] == ["distance"]
    assert (tmp_path / "topology.png").exists()
    words = ("report", "mapping", "6x3-scatter-interleave", "--json")
    done = numapredict(*words, cwd=tmp_path, **three)
    boxes = json.loads(done.stdout)["boxes"]
    assert [[cell["thread"] for cell in box["cells"]] for box in boxes] == [[0, 3], [1, 4], [2, 5]]
    assert (tmp_path / "mapping.png").exists()
    (tmp_path / "profile").write_bytes(profile_bytes([(4, [(0, 0, 1.0), (3, 3, 1.0)])]))
    placed = ("report", "mapping", "16x2-scatter-locality", *SANDY, "--profile", "profile", "--json")
    shares = [box["share"] for box in json.loads(numapredict(*placed, cwd=tmp_path).stdout)["boxes"]]
    # Pages 0 and 1 go by thread 0, 2 and 3 by thread 3, which is thread 12 of 16: both are on node 0.
    assert shares == [1.0, None, None, None]
    needless = numapredict(*words[:-1], "--profile", "profile", cwd=tmp_path, **three)
    assert "leave out --profile" in refusal(needless)


def test_the_pairs_most_alike_are_shown() -> None:
    dataset = ("--dataset", "sandybridge-4x8", "--count", "3")
    shown = numapredict("report", "pairs", *dataset)
    assert shown.returncode == 0, shown.stderr
    rows = [line.split(",")[0] for line in shown.stdout.splitlines()[4:]]
    found = json.loads(numapredict("report", "pairs", *dataset, "--json").stdout)
    assert rows == [pair["first"] for pair in found]
    assert all(1 <= pair["time"] <= pair["time_at_most"] for pair in found)
    assert "no dataset 'nowhere'" in refusal(numapredict("report", "pairs", "--dataset", "nowhere"))


def test_cere_is_asked_for_where_it_is_missing(tmp_path: Path) -> None:
    campaign = ("campaign", *SANDY, "--cere", str(tmp_path), "--into", str(tmp_path / "into"))
    for words in (("regions", str(tmp_path)), campaign):
        assert "cere is not on the PATH" in refusal(numapredict("collect", *words, PATH="/nowhere"))
    assert not (tmp_path / "into").exists()
