"""`numapredict variables` on twelve more planted programs, which make twenty-one with those of `test_variables.py`.

What is not right is marked as such, with the reason: it counts against the eighteen of these that must be.
"""

import shutil
from pathlib import Path

import pytest

from numapredict.predictor.variables.session import Question, ask
from tests.integration.test_variables import CLANGXX, ON, asked, built, line, sampled, worth_fixing
from tests.openmp import CLANG, GCC, GFORTRAN, GXX

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and GXX and GFORTRAN and CLANG), reason="no gcc, g++, gfortran or clang"),
]

# Of each fault the variable, the line of its allocation, that of its first touch, and the number of its allocations.
FAULTS = {
    "zeroed.c": ("wrong", 9, 14, 1),
    "structure.c": ("all.wrong", 18, 22, 1),
    "rows.c": ("rows[]", 15, 21, 32),
    "mapped.c": ("wrong", 12, 18, 1),
    "grown.c": ("wrong", 18, 23, 6),
    "class_new.cpp": ("field.wrong", 11, 14, 1),
    "fortran.f90": ("wrong", 11, 15, 1),
}
CASES = [
    *((GCC, name) for name in FAULTS if name.endswith(".c")),
    (GXX, "class_new.cpp"),
    (GFORTRAN, "fortran.f90"),
    *((CLANG, name) for name in ("zeroed.c", "mapped.c")),
    (CLANGXX, "class_new.cpp"),
]
LULESH = [GCC, CLANG]


@pytest.mark.parametrize(("compiler", "source"), CASES)
@sampled
def test_one_thread_initialises_what_all_use_in_blocks(compiler: str, source: str, tmp_path: Path) -> None:
    answer = asked(built(tmp_path, compiler, source))
    (found,) = worth_fixing(answer)
    assert (found.name, line(found.allocated), line(found.first_touch), found.allocations) == FAULTS[source]
    assert (found.pattern.in_blocks, found.remedy.action) == (True, "initialise in parallel")
    assert found.first_manner == "one thread"
    assert found.remote_share is not None
    assert found.remote_share > 0.35  # 0.75, as in test_variables.py
    assert found is answer.variables[0]


@pytest.mark.parametrize("compiler", LULESH)
@sampled
def test_the_misplaced_ones_of_many_arrays_in_many_short_regions_are_found(compiler: str, tmp_path: Path) -> None:
    found = worth_fixing(asked(built(tmp_path, compiler, "lulesh.c")))
    assert {(one.name, line(one.allocated), line(one.first_touch)) for one in found} == {
        ("x", 14, 24),
        ("y", 15, 24),
        ("z", 16, 24),
    }
    assert {one.remedy.action for one in found} == {"initialise in parallel"}


@pytest.mark.parametrize("compiler", [GXX, CLANGXX])
@sampled
def test_of_several_objects_of_a_class_the_misplaced_one_is_named(compiler: str, tmp_path: Path) -> None:
    answer = asked(built(tmp_path, compiler, "objects.cpp"))
    (found,) = worth_fixing(answer)
    assert (found.name, line(found.allocated), line(found.first_touch)) == ("wrong.cells", 9, 21)
    assert [one.name for one in answer.variables if one is not found] == ["cells"] * 2  # of two objects in a line


@pytest.mark.parametrize("compiler", [GCC, CLANG])
@sampled
def test_the_line_that_calls_memset_is_named(compiler: str, tmp_path: Path) -> None:
    (found,) = worth_fixing(asked(built(tmp_path, compiler, "filled.c")))
    assert found.name == "wrong"
    assert line(found.first_touch) == 14
    assert found.remedy.action == "initialise in parallel"


@pytest.mark.parametrize("compiler", [GCC, CLANG])
@sampled
def test_what_is_used_as_it_was_initialised_is_no_fault(compiler: str, tmp_path: Path) -> None:
    answer = asked(built(tmp_path, compiler, "in_blocks.c"))
    assert worth_fixing(answer) == []
    assert {one.name for one in answer.variables} == {"a", "b"}
    assert {one.first_manner for one in answer.variables} == {"equal blocks"}


@sampled
def test_what_each_thread_has_for_itself_is_no_fault(tmp_path: Path) -> None:
    answer = asked(built(tmp_path, GCC, "each_its_own.c"))
    assert {one.name for one in answer.variables if one.kind == "allocated"} == {"mine"}
    assert worth_fixing(answer) == []


@sampled
def test_the_model_says_what_a_plan_gains(tmp_path: Path) -> None:
    program = built(tmp_path, GCC, "lulesh.c", "-DNODES=(1l<<21)")  # larger than all caches
    question = Question((str(program), "60"), machine=ON["machine"], plan=tmp_path / "plan")
    answer = ask(question)
    plan = answer.plan
    assert plan is not None, answer.notes
    assert {one.name for one in plan.variables} == {"x", "y", "z"}
    gains = [one.speedup for one in plan.variables]
    assert plan.speedup is not None, answer.notes
    assert all(gain is not None and 1.02 < gain < plan.speedup for gain in gains), (gains, plan.speedup)
    (tmp_path / "copy").mkdir()  # its census and its trace are known
    copied = shutil.copy(program, tmp_path / "copy")
    again = ask(Question((copied, "60"), machine=ON["machine"], plan=tmp_path / "plan"))
    assert again.plan is not None
    assert again.plan.speedup is not None, again.notes
