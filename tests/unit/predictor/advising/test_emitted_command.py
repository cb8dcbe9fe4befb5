import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.tools.tools import TOOLS, Tool
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.alternative import Alternative
from numapredict.predictor.advising.emitted_command import command_for_advice
from numapredict.predictor.command_line.main import main
from tests.advised import advised_on
from tests.planted import planted_dataset


@pytest.fixture(autouse=True)
def _four_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:4 core:4 pu:1")
    monkeypatch.delenv("HWLOC_XMLFILE", raising=False)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], list[str]]:
    code = main(["run", *words])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err.splitlines()


@pytest.mark.parametrize("tool", TOOLS)
def test_only_the_command_is_on_standard_output_and_nothing_runs(
    tool: Tool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "ran"
    code, out, err = run(capsys, "--mapping", "8x2-scatter-locality", "--emit", tool, "--", "touch", str(mark))
    assert (code, len(out)) == (0, 1)
    assert out[0].endswith(f"touch {mark}")
    assert any("cannot express locality: this command uses first-touch instead" in line for line in err)
    assert all(line.startswith("numapredict: ") for line in err)
    assert not mark.exists()


def test_a_program_that_is_not_here_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--mapping", "4x1-contiguous-bind", "--emit", "likwid", "--", "./not-here", "-x")
    assert code == 0
    assert out[0].endswith("likwid-pin -c 0,1,2,3 ./not-here -x")


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_deals_a_mapping_to_ranks(tool: Tool, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--mapping", "8x2-scatter-interleave", "--emit", tool, "--", "mpirun", "-n", "4", "./app")
    code, out, (line,) = run(capsys, *words)
    assert (code, out) == (2, [])
    assert "cannot deal a mapping to the ranks of a job, and mpirun starts some: leave --emit out" in line
    code, out, (line,) = run(
        capsys, "--mapping", "8x2-scatter-interleave-1pernode", "--emit", "mpirun", "--", *words[5:]
    )
    assert (code, out) == (2, [])
    assert "--emit mpirun starts the ranks itself: give what each runs, without mpirun" in line


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--mapping", "8x2", "--emit", "env"), "is not a mapping's label"),
        (("--mapping", "64x4-scatter-interleave", "--emit", "env"), "needs 64 cores"),
        (("--mapping", "8x2-scatter-interleave", "--emit", "pin"), "'pin' is not one of"),
        (("--mapping", "8x2-scatter-interleave", "--emit", "env", "--verify"), "--emit only prints a command"),
    ],
)
def test_a_mistake_is_one_line_and_two(
    words: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *words, "--", "./app")
    assert (code, out, len(err)) == (2, [], 1)
    assert complaint in err[0]


def test_likwid_pin_can_do_nothing_for_a_static_program_but_set_a_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "static"
    (tmp_path / "static.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-static", "-o", program, tmp_path / "static.c"], check=True)
    code, out, err = run(capsys, "--mapping", "8x2-scatter-first-touch", "--emit", "likwid", "--", str(program))
    assert (code, out, len(err)) == (2, [], 1)
    assert "it is statically linked" in err[0]
    assert "the nearest is --emit numactl" in err[0]
    for label in ("8x2-scatter-interleave", "8x2-scatter-bind@1"):
        code, out, err = run(capsys, "--mapping", label, "--emit", "likwid", "--", str(program))
        assert (code, len(out)) == (0, 1)
        assert "it is statically linked" in err[0]
    code, out, err = run(capsys, "--mapping", "8x2-scatter-bind@1", "--emit", "numactl", "--", str(program))
    assert (code, len(out), err) == (0, 1, [])


def test_the_advice_says_what_a_tool_applies_instead(said: list[str]) -> None:
    dataset = planted_dataset(15)
    found = [(program, advised_on(dataset, program)) for program in dataset.programs]
    advised = [(program, advice) for program, advice in found if advice.alternatives]
    exact = {"numactl": 0, "env": 0}
    for program, advice in advised:
        for tool in TOOLS:
            said.clear()
            assert command_for_advice(tool, advice, program) == reported(advice, tool).command
            about = [line for line in said if f"cannot express {advice.mapping}" in line]
            assert len(about) == (not reported(advice, tool).exact)
            assert all(f"applies {reported(advice, tool).mapping}" in line and advice.command in line for line in about)
            if tool in exact:
                exact[tool] += reported(advice, tool).exact
    assert 0 < exact["env"] <= exact["numactl"] < len(advised)  # or nothing of the above was tried


def reported(advice: Advice, tool: Tool) -> Alternative:
    return next(alternative for alternative in advice.alternatives if alternative.tool == tool)
