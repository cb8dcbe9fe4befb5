"""Searches of real programs by a metric that they print, through the command on this computer."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.predictor.command_line.commands import commands
from tests.html_document import Document
from tests.integration.test_kept_runs import PLACED
from tests.openmp import GCC, build
from tests.unwatched import look_away

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]
TOKENS = ("--metric", r"tg\d+ .* ([0-9.]+) ±")


@pytest.fixture(autouse=True)
def computer(own_folders: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:4 core:2 pu:1")
    monkeypatch.chdir(tmp_path)
    look_away(monkeypatch)


def script(folder: Path, lines: str) -> Path:
    path = folder / "app"
    path.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def asked(*words: object) -> tuple[Any, str]:
    done = CliRunner().invoke(commands, ["predict", "--json", *map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)
    return msgspec.json.decode(done.stdout), " ".join(done.stderr.split())


def table(folder: Path) -> Path:
    return script(
        folder,
        f"if {PLACED}; then sleep 0.3; n=15.43; else n=12.34; fi\n"
        'echo "| pp512 | 99.90 ± 0.05 |"; echo "| tg128 | $n ± 0.05 |"',
    )


def test_the_metric_of_a_table_decides_though_the_run_takes_longer(tmp_path: Path) -> None:
    found, said = asked(*TOKENS, "--runs", 3, table(tmp_path))
    assert found["figure"] == {"metric": TOKENS[1], "smaller": False, "seconds": None}
    assert [run["figure"] for run in found["runs"]] == [12.34, 15.43, 15.43]
    assert {run["outcome"] for run in found["runs"]} == {"done"}
    assert not found["keep"]
    assert found["speedup"] == pytest.approx(15.43 / 12.34)
    assert found["confirmation"]["baseline_figures"] == [12.34] * 3
    assert found["confirmation"]["time_speedup"] < 1
    assert any("the whole run is slower" in text for text in found["warnings"])
    assert "metric 12.34 in " in said
    page = tmp_path / "page.html"
    done = CliRunner().invoke(commands, ["report", "-", "-o", str(page)], input=msgspec.json.encode(found))
    assert done.exit_code == 0, done.output
    document = Document(page.read_text(encoding="utf-8"))
    assert "1.25x by the metric, from 12.34 to 15.43" in document.texts["body"][0]
    head, first, *_ = document.table("The runs in their order")
    assert (head[2], first[2]) == ("metric", "12.34")
    assert document.table("Runs in turn of the program as it is now")[1] == ["1", "12.34", "15.43", "1.25x"]


def test_kept_runs_are_those_of_the_same_metric(tmp_path: Path) -> None:
    app = table(tmp_path)
    counts = [asked(*words, "--runs", 2, app)[0]["kept_runs"] for words in (TOKENS, (), TOKENS, ("--metric", "g(.)"))]
    assert counts == [0, 0, 2, 0]
    smaller, _ = asked(*TOKENS, "--metric-smaller", "--runs", 2, app)
    assert (smaller["kept_runs"], smaller["keep"]) == (0, True)


def test_the_bandwidth_of_a_stream_is_compared(tmp_path: Path) -> None:
    found, _ = asked("--metric", r"^Triad: +([0-9.]+) MB/s$", "--runs", 3, build("triad.c", tmp_path, GCC))
    first, *others = found["runs"]
    assert first["figure"] > 0
    assert [run["speedup"] for run in others] == pytest.approx([run["figure"] / first["figure"] for run in others])


def test_a_metric_at_the_end_of_much_output_is_found_and_one_before_it_is_not(tmp_path: Path) -> None:
    much = "head -c 9000000 /dev/zero | tr '\\0' x; echo; echo more >&2"
    found, _ = asked("--metric", "rate ([0-9]+)", "--runs", 2, script(tmp_path, f"echo rate 1; {much}; echo rate 2"))
    assert found["runs"][0]["figure"] == 2
    done = refused("--metric", "rate ([0-9]+)", script(tmp_path, f"echo rate 1; {much}"))
    assert "matches nothing in the last 4 MiB of its output; " in done


def test_a_run_without_the_metric_has_failed_and_others_go_on(tmp_path: Path) -> None:
    app = script(tmp_path, f"{PLACED} || echo rate 5 >&2")
    found, _ = asked("--metric", "rate ([0-9]+)", "--runs", 3, app)
    assert [run["outcome"] for run in found["runs"]] == ["done", "failed", "failed"]
    assert "matches nothing in its output" in found["runs"][1]["message"]
    assert found["keep"]


def refused(*words: object) -> str:
    """Return the last line of a refusal, for which nothing else than the words of the search was printed."""
    done = CliRunner().invoke(commands, ["predict", *map(str, words)])
    assert (done.exit_code, done.stdout) == (2, "") or done.exception, done.output
    return f"{done.stderr}{done.exception}".strip()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--metric", "("), "--metric '(' is no regular expression: "),
        (("--metric", "\udcff?([0-9.]+)"), "--metric '\\udcff?([0-9.]+)' is not UTF-8, "),
        (("--metric", "x"), "--metric 'x' has no group: "),
        (("--metric", "never([0-9])"), "--metric 'never([0-9])' matches nothing in its output; "),
        (("--metric", "(pp)"), "the metric 'pp' is no positive finite number; "),
        (("--metric-smaller",), "--metric-smaller says which metric is better: "),
        ((*TOKENS, "--for", 5), "--for is for searches that compare run times"),
        ((*TOKENS, "--no-cut"), "--no-cut is for searches that compare run times"),
        ((*TOKENS, "--method", "thesis"), "--method thesis is for searches that compare run times"),
        ((*TOKENS, "--machine", "lpdquad"), "--metric is for runs of this computer"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(tmp_path: Path, words: tuple[object, ...], said: str) -> None:
    assert said in refused(*words, table(tmp_path))
