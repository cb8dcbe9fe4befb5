"""The published schemas: unchanged unless somebody means it, valid, and true of what the commands print."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from numapredict.collect.data.dataset import write_dataset
from tests.command import SANDY, numapredict, refusal
from tests.golden.schemas.__main__ import FOLDER, file_of, printed, text_of
from tests.planted import planted_dataset
from tests.unit.collect.campaign.test_cere import STAND_IN
from tests.workloads import example_program

jsonschema = pytest.importorskip("jsonschema")


def test_the_schemas_are_those_that_were_published() -> None:
    now = printed()
    assert {file_of(command) for command in now} == set(FOLDER.glob("*.json"))
    for command, schema in now.items():
        assert file_of(command).read_text() == text_of(schema), (
            f"the JSON of {command} has changed: python -m tests.golden.schemas, and a line in CHANGELOG.md"
        )


def test_every_schema_is_one() -> None:
    for path in FOLDER.glob("*.json"):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["title"] == f"numapredict {path.stem.replace('-', ' ')} --json"


def check(command: str, text: str) -> Any:  # noqa: ANN401 - any JSON
    found = json.loads(text)
    schema = json.loads(file_of(command).read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    # A schema that takes anything says nothing: what is not an answer must not pass.
    for wrong in (None, 3, {"surely": "nothing"}, [{"surely": "nothing"}]):
        assert not jsonschema.Draft202012Validator(schema).is_valid(wrong)
    return found


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("topology", ("topology", *SANDY)),
        ("topology", ("topology", "--list")),
        ("collect codelets", ("collect", "codelets")),
        ("report pairs", ("report", "pairs", "--dataset", "sandybridge-4x8", "--count", "3")),
        ("report sweeps", ("report", "sweeps", "sandybridge-4x8")),
        ("report fidelity", ("report", "fidelity", "--only", "ics19")),
        ("report clustermap", ("report", "clustermap", "--dataset", "sandybridge-4x8", "--output", "map.svg")),
        ("train", ("train", "--dataset", "sandybridge-4x8", "--output", "model.json")),
        ("train", ("train", *SANDY, "--into", "made", "--dry-run")),
        ("train", ("train", *SANDY, "--into", "made", "--dry-run", "--budget", "15%")),
        ("train", ("train", *SANDY, "--into", "made", "--dry-run", "--budget", "1h")),
        ("train", ("train", *SANDY, "--into", "made", "--dry-run", "--budget", "40")),
        ("collect campaign", ("collect", "campaign", *SANDY, "--into", "made", "--dry-run")),
    ],
)
@pytest.mark.native
def test_answers_are_as_their_schema_says(command: str, words: tuple[str, ...], tmp_path: Path) -> None:
    done = numapredict("-q", *words, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    check(command, done.stdout)


def test_the_computer_s_answers_are_as_their_schema_says() -> None:
    for command in ("topology", "doctor"):
        done = numapredict(command, "--json", "-q")
        assert done.returncode == 0, done.stderr
        check(command, done.stdout)


@pytest.mark.native
def test_what_runs_programs_answers_as_its_schema_says(tmp_path: Path) -> None:
    program = example_program(tmp_path)
    advice = check("predict", numapredict("-q", *SANDY, "--json", "--cpu-seconds", "30", str(program)).stdout)
    searched = check("predict", numapredict("-q", *SANDY, "--json", "--runs", "2", str(program)).stdout)
    assert searched["answer"] == "advised"
    assert advice["machine"] == "sandybridge-4x8"
    which = ("--codelet", "stream-triad", "--size", "small", "--space", "diener")
    words = ("collect", "campaign", *SANDY, "--into", "made", *which, "--json")
    assert check("collect campaign", numapredict(*words, cwd=tmp_path).stdout)["measurements"] == 2
    merged = check(
        "collect merge", numapredict("collect", "merge", "made", "--into", "m", "--json", cwd=tmp_path).stdout
    )
    assert [one["measurements"] for one in merged["datasets"]] == [2]
    shown = numapredict(
        "characterize", *SANDY, "--threads", "4", "--cpu-seconds", "30", "--json", str(program), cwd=tmp_path
    )
    assert check("characterize", shown.stdout)["program"] == "heat"


def test_what_evaluates_answers_as_its_schema_says(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = [
        f"{code},{policy},{threads},{(2 if policy == best else 3) / int(threads)}"
        for code, best in zip("abcdef", ("near", "far") * 3, strict=True)
        for policy in ("near", "far", "none")
        for threads in ("4", "8")
    ]
    table.write_text("\n".join(["code,policy,threads,time", *rows]) + "\n")
    named = ("--program", "code", "--mapping", "policy,threads", "--time", "time", "--default", "none-8", "--json")
    check("collect import", numapredict("collect", "import", "table.csv", "-o", "data", *named, cwd=tmp_path).stdout)
    check("evaluate", numapredict("evaluate", "data", "--json", "--output", "e.json", cwd=tmp_path).stdout)
    words = ("report", "calibration", "data", "--json", "--output", "c.svg")
    check("report calibration", numapredict(*words, cwd=tmp_path).stdout)


def test_what_draws_answers_as_its_schema_says(tmp_path: Path) -> None:
    """Of few programs in a small space: what is drawn is checked elsewhere."""
    write_dataset(planted_dataset(6), tmp_path / "data")
    for report in ("accuracy", "budget", "related"):
        done = numapredict("-q", "report", report, "data", "--json", "--output", f"{report}.svg", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert check(f"report {report}", done.stdout)
        assert (tmp_path / f"{report}.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("report topology", (*SANDY, "--output", "t.svg")),
        ("report mapping", ("16x2-contiguous-interleave", *SANDY, "--output", "m.svg")),
        ("report explanations", ("sandybridge-4x8",)),
    ],
)
def test_what_is_drawn_of_a_machine_answers_as_its_schema_says(
    command: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    done = numapredict("-q", *command.split(), *words, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert check(command, done.stdout)


def test_regions_that_cere_lists_are_as_their_schema_says(tmp_path: Path) -> None:
    (tmp_path / "cere").write_text(STAND_IN)
    (tmp_path / "cere").chmod(0o755)
    (tmp_path / "cere.json").write_text('{"run_cmd": "./bt"}')
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = numapredict("collect", "regions", ".", "--json", "-q", cwd=tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    assert check("collect regions", done.stdout)


def test_one_schema_is_printed_by_its_command_s_name() -> None:
    schema = json.loads(numapredict("schema", "collect", "campaign").stdout)
    assert schema == json.loads(file_of("collect campaign").read_text())
    assert "'schema' is no command that prints JSON" in refusal(numapredict("schema", "schema"))
