"""The command line as a user meets it: help, lists, campaigns, imported tables, reports and figures."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.command import SANDY, numapredict, refusal
from tests.planted import planted_dataset
from tests.profiles import profile_bytes

BARE = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
"""For `python -S`: what the environment's own start-up loads is none of ours."""


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
@pytest.mark.parametrize("words", [("--mapping", "1x1-contiguous-bind"), ("--adapt",)])
def test_a_run_without_a_report_starts_with_few_libraries(words: tuple[str, ...]) -> None:
    """Those took two thirds of its start."""
    code = "from numapredict.predictor.command_line.main import main; main()"
    flags = ("-S", "-X", "importtime", "-c", code)
    run = ["taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, *flags, "run", *words, "true"]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=BARE)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert {"click", "msgspec"} <= loaded
    assert ("nothing to choose" in done.stderr) == (words == ("--adapt",))
    assert loaded.isdisjoint({"numpy", "scipy", "elftools", "importlib.metadata"})


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shards", "4"), "of --shards either --shard says which one to run, or --emit sbatch prints a job for each"),
        (("--shard", "1"), "--shards says in how many parts to collect"),
        (("--emit", "sbatch"), "--shards says in how many parts to collect"),
        (("--shards", "4", "--shard", "1", "--emit", "sbatch"), "either --shard says which one to run"),
        (("--shards", "4", "--shard", "4"), "--shard 4: of 4 shards the first is 0 and the last is 3"),
        (("--shards", "4", "--emit", "sbatch", "--json"), "use it without --dry-run and --json"),
        (("--shards", "4", "--emit", "sbatch", "--time-limit", "2h"), "--time-limit '2h': give minutes"),
        (("--shards", "4", "--shard", "1", "--scheduler", "tcp://a:1"), "--shards and --scheduler exclude each other"),
        (("--time-limit", "5"), "--time-limit is of the jobs that --emit sbatch prints"),
    ],
)
def test_shards_that_are_none_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = numapredict("collect", "campaign", *SANDY, "--into", "runs", *words, cwd=tmp_path)
    assert message in refusal(done)
    assert not list(tmp_path.iterdir())


@pytest.mark.native
def test_a_job_array_is_printed_without_running_anything(tmp_path: Path) -> None:
    words = (
        "collect",
        "campaign",
        *SANDY,
        "--codelet",
        "stream-triad",
        "--shards",
        "8",
        "--emit=sbatch",
        "--jobs",
        "2",
    )
    done = numapredict(*words, "--into", "my runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.endswith("--shards 8 --jobs 2 --into 'my runs' --shard \"$SLURM_ARRAY_TASK_ID\"")
    assert "#SBATCH --cpus-per-task=2\n" in done.stdout
    assert not (tmp_path / "my runs").exists()


@pytest.mark.thorough
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
    assert "not one of forestgomp, mctop" in refusal(numapredict("report", "fidelity", "--only", "nobody"))
    unwritable = numapredict("report", "fidelity", "--only", "ics19", "--output", str(tmp_path / "no" / "table.md"))
    assert "cannot write the table" in refusal(unwritable, 1)


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_the_thesis_s_curves_are_shown_and_drawn(tmp_path: Path) -> None:
    shown = numapredict("report", "sweeps", "sandybridge-4x8", "-o", "curves.svg", cwd=tmp_path)
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
    ours = next(bar["speedup"] for bar in panel["bars"] if bar["name"] == "the best of 4 runs")
    table = numapredict("report", "related", "planted", cwd=tmp_path, **here).stdout
    assert f"{ours:.2f}x" in next(line for line in table.splitlines() if line.startswith("  the best of 4 runs"))
    done = numapredict("report", "accuracy", "planted", "--json", "--output", "accuracy.svg", cwd=tmp_path, **here)
    found = json.loads(done.stdout)
    assert 10 <= len(found["points"]) <= 30
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


@pytest.mark.thorough
def test_the_pairs_most_alike_are_shown_or_written(tmp_path: Path) -> None:
    dataset = ("--dataset", "sandybridge-4x8", "--count", "3")
    shown = numapredict("report", "pairs", *dataset)
    assert shown.returncode == 0, shown.stderr
    rows = [line.split(",")[0] for line in shown.stdout.splitlines()[4:]]
    found = json.loads(numapredict("report", "pairs", *dataset, "--json").stdout)
    assert rows == [pair["first"] for pair in found]
    assert all(1 <= pair["time"] <= pair["time_at_most"] for pair in found)
    written = numapredict("report", "pairs", *dataset, "--output", "pairs.txt", cwd=tmp_path)
    assert (written.stdout, (tmp_path / "pairs.txt").read_text()) == ("", shown.stdout)
    unwritable = numapredict("report", "pairs", *dataset, "-o", "no/pairs.txt", cwd=tmp_path)
    assert "cannot write the table no/pairs.txt" in refusal(unwritable, 1)
    assert "no dataset 'nowhere'" in refusal(numapredict("report", "pairs", "--dataset", "nowhere"))
