"""`numapredict variables` on programs with a planted fault each: the right variable, line and advice, or none."""

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import pytest

from numapredict.collect.source.place import Place
from numapredict.predictor.variables.session import Question, ask
from numapredict.predictor.variables.variable import Variable, Variables
from numapredict.predictor.variables.variables_text import variables_in_words
from tests.command import SANDY, numapredict, refusal
from tests.golden.schemas.__main__ import file_of
from tests.openmp import CLANG, GCC, GXX

pytestmark = [pytest.mark.native, pytest.mark.skipif(not (GCC and GXX and CLANG), reason="no gcc or no clang")]
SOURCES = Path(__file__).parent / "variables"
CLANGXX = shutil.which("clang++") or ""
ON = {"machine": "sandybridge-4x8", "mapping": "4x4-contiguous-first-touch"}

P = ParamSpec("P")

# The variable, the line of its allocation or declaration, that of its first touch, and the advice.
FAULTS = {
    "five_arrays.c": ("wrong", 12, 16, "initialise in parallel"),
    "hot_table.c": ("table", 16, 20, "interleave"),
    "columns.c": ("matrix", 10, 16, "initialise alike"),
    "static_array.c": ("grid", 7, 11, "initialise in parallel"),
    "schedules.c": ("field", 17, 23, "initialise alike"),
    "wrapper.c": ("wrong", 21, 24, "initialise in parallel"),
    "one_thread.c": ("queue", 9, 14, "initialise by its thread"),
}
CASES = [(compiler, name) for compiler in (GCC, CLANG) for name in FAULTS]


def built(folder: Path, compiler: str, source: str, *options: str) -> Path:
    program = folder / Path(source).stem
    words = [compiler, "-g", "-O2", "-fopenmp", f"-I{SOURCES}", *options, "-o", str(program), str(SOURCES / source)]
    subprocess.run(words, check=True)
    return program


def test_json_of_a_program_whose_name_is_not_utf8_is_json(tmp_path: Path) -> None:
    program = built(tmp_path, GCC, "five_arrays.c").rename(tmp_path / os.fsdecode(b"caf\xe9"))
    done = numapredict("variables", "--json", str(program))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert json.loads(done.stdout)["command"] == [f"{tmp_path}/caf\\xe9"]


def asked(program: Path) -> Variables:
    return ask(Question((str(program),), **ON))


def line(place: Place | None) -> int | None:
    return None if place is None else place.frame.line


MOST_WRONG = 2
"""Of five answers of samples."""
LONGER_S = "2.5"
"""Of the programs where 0.7 s were too short: beside two busy loops, a fifth of those answers had too few samples."""


def sampled(test: Callable[P, None]) -> Callable[P, None]:
    """Repeat a test of a sampled answer with longer runs where it fails: a busy computer keeps threads waiting.

    Three more must then pass before three have failed: of five answers two may be wrong.
    """

    @functools.wraps(test)
    def repeated(*words: P.args, **named: P.kwargs) -> None:
        failed = passed = 0
        with pytest.MonkeyPatch.context() as patch:
            while passed < MOST_WRONG + 1:
                try:
                    test(*words, **named)
                except (AssertionError, ValueError):
                    failed += 1
                    if failed > MOST_WRONG:
                        raise
                    patch.setenv("NUMAPREDICT_TEST_SECONDS", LONGER_S)
                else:
                    if not failed:
                        return
                    passed += 1

    return repeated


def worth_fixing(answer: Variables) -> list[Variable]:
    return [one for one in answer.variables if one.remedy.action != "nothing"]


@pytest.mark.parametrize(("compiler", "source"), CASES)
@sampled
def test_the_planted_fault_is_found_and_nothing_else(compiler: str, source: str, tmp_path: Path) -> None:
    answer = asked(built(tmp_path, compiler, source))
    (found,) = worth_fixing(answer)
    assert (found.name, line(found.allocated), line(found.first_touch), found.remedy.action) == FAULTS[source]
    assert found is answer.variables[0]
    assert found.remote_share is not None
    assert found.remote_share > 0.35  # 0.75 but for some hundred samples, fewer on a busy computer
    assert answer.exit_code == 0


@sampled
def test_a_mapped_file_is_named(tmp_path: Path) -> None:
    program, model = built(tmp_path, GCC, "mapped_file.c"), tmp_path / "model.gguf"
    model.write_bytes(bytes(8 << 20))
    answer = ask(Question((str(program), str(model)), **ON))
    (found,) = worth_fixing(answer)
    assert (found.name, found.kind, found.size_bytes, line(found.allocated)) == ("model.gguf", "file", 8 << 20, 13)
    assert (found.pattern.kind, found.only_read) == ("shared", True)
    assert "  file model.gguf, 8 MiB\n" in variables_in_words(answer)


@pytest.mark.parametrize("compiler", [GXX, CLANGXX])
@sampled
def test_a_vector_is_named_and_its_constructor_blamed(compiler: str, tmp_path: Path) -> None:
    (found,) = worth_fixing(asked(built(tmp_path, compiler, "vectors.cpp")))
    assert (found.name, line(found.allocated), found.by_container) == ("wrong", 9, True)
    assert line(found.first_touch) == 9  # which calls memset
    assert found.first_touch_stack[0].in_c_library
    assert (found.pattern.kind, found.remedy.action) == ("blocked", "initialise in parallel")


@pytest.mark.parametrize("compiler", [GCC, CLANG])
@sampled
def test_a_fault_that_costs_nothing_is_called_harmless(compiler: str, tmp_path: Path) -> None:
    answer = asked(built(tmp_path, compiler, "harmless.c"))
    assert worth_fixing(answer) == []
    assert {one.name for one in answer.variables} == {"rare", "often"}


@sampled
def test_what_threads_share_out_is_told_by_pattern(tmp_path: Path) -> None:
    (columns,) = worth_fixing(asked(built(tmp_path, GCC, "columns.c")))
    assert columns.pattern.kind == "strided"
    assert columns.pattern.period_pages == pytest.approx(32, rel=0.02)
    (table,) = worth_fixing(asked(built(tmp_path, GCC, "hot_table.c")))
    assert table.pattern.kind == "shared"


@sampled
def test_an_answer_of_a_profile_is_that_of_its_run(tmp_path: Path) -> None:
    program = built(tmp_path, GCC, "static_array.c", "-static-libgcc")
    done = numapredict("run", "--mapping", "1x1-contiguous-bind", "--profile", "kept", "--", str(program), cwd=tmp_path)
    assert done.returncode == 0, done
    done = numapredict("variables", "--profile", "kept", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(json.loads(file_of("variables").read_text())).validate(answer)
    assert {one["name"] for one in answer["variables"]} == {"grid", "right"}
    assert {one["pattern"]["kind"] for one in answer["variables"]} == {"one thread"}
    assert {one["remedy"]["action"] for one in answer["variables"]} == {"nothing"}
    assert (answer["exit_code"], answer["threads"]) == (None, 1)
    said = refusal(numapredict("variables", "--profile", "kept", *SANDY, "--mapping", ON["mapping"], cwd=tmp_path))
    assert "name a mapping with as many" in said
    program.write_bytes(b"another program")
    done = numapredict("variables", "--profile", "kept", cwd=tmp_path)
    assert "static_array has changed since the run" in done.stdout
    assert "grid" not in done.stdout


def test_a_program_that_fails_is_judged_and_its_exit_code_told(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text((SOURCES / "one_thread.c").read_text().replace("return 0", "return 3"))
    words = [GCC, "-O2", "-fopenmp", f"-I{SOURCES}", "app.c", "-o", "app"]
    subprocess.run(words, cwd=tmp_path, check=True)
    done = numapredict("variables", "./app", cwd=tmp_path, OMP_NUM_THREADS="2")
    assert done.returncode == 0
    assert "the program failed: exit code 3" in done.stdout
    assert "app has no debug information: build it with -g" in done.stdout
    assert "main, app+0x" in done.stdout  # the nearest symbol


def test_a_program_that_is_killed_after_its_regions_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "int main(void) {\n"
        "  static double a[1 << 16];\n"
        "  for (int step = 0; step < 50; step++)\n"
        '  _Pragma("omp parallel for") for (int i = 0; i < 1 << 16; i++) a[i] += 1;\n'
        '  fputs("diverged", stderr);\n'
        "  abort();\n"
        "}\n"
    )
    subprocess.run([GCC, "-O2", "-fopenmp", "app.c", "-o", "app"], cwd=tmp_path, check=True)
    said = refusal(numapredict("variables", "./app", cwd=tmp_path, OMP_NUM_THREADS="2"))
    assert "app left no profile: it was killed by SIGABRT before the profile was written (diverged); find" in said
    assert "no parallel region" not in said


REFUSED = {
    "no parallel region": (("true",), "true left no profile: no parallel region was seen"),
    "a failure before any": (("false",), "false left no profile (exit code 1): no parallel"),
    "no program": (("./absent",), "./absent: no such file"),
    "no question": ((), "name a program to profile, or with --profile"),
    "two questions": (("--profile", "x", "true"), "name a program to profile, or with --profile"),
    "no profile": (("--profile", "absent"), "profile absent cannot be read: No such file"),
    "no machine": (("--machine", "mine", "true"), "unknown machine 'mine'"),
    "other pages": (("--mapping", "2x2-contiguous-interleave", "true"), "does not leave pages to first touch"),
    "no such nodes": ((*SANDY, "--mapping", "8x8-contiguous-first-touch", "true"), "needs 8 cores on 8 nodes"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refusals_are_one_line(kind: str, tmp_path: Path) -> None:
    words, said = REFUSED[kind]
    assert said in refusal(numapredict("variables", *words, cwd=tmp_path))
