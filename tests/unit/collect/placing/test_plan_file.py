import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.page_plan import joined, moving, plan_of
from numapredict.collect.placing.plan_file import (
    Plan,
    PlannedRegion,
    build_of,
    builds_of,
    check_fits,
    plan_text,
    read_plan,
    write_plan,
)
from numapredict.collect.placing.profile_file import parse_profile
from numapredict.native.errors import InvalidInputError
from tests.openmp import GCC
from tests.profiles import profile_bytes
from tests.shapes import shape

TOPOLOGY = shape([4, 4], name="four by two")
LABEL = "8x2-contiguous-first-touch"
PLACEMENT = resolve(parse_label("4x2-contiguous-locality"), TOPOLOGY)
REGIONS = (
    PlannedRegion(0xAB, "/home/a b/app\n", 0x4F0, (0, 4, 1, 5)),
    PlannedRegion(0xFFFFFFFFFFFFFFFF, "/lib/libx.so", 0, (3,), 0, (1, 12)),
    PlannedRegion(0xCD, "/lib/libx.so", 16, wants=(0,)),
)
PLAN = Plan(TOPOLOGY.fingerprint, TOPOLOGY.name, LABEL, (("/home/a b/app\n", "7f"), ("/lib/libx.so", "80")), REGIONS)


def test_the_file_is_as_the_library_reads_it(tmp_path: Path) -> None:
    profile = parse_profile(profile_bytes([(12, [(2, 0, 1.0), (7, 2, 1.0)]), (1, [(0, 3, 1.0)])], 4))
    pages = plan_of(profile, resolve(parse_label("4x2-contiguous-locality"), TOPOLOGY))
    write_plan(replace(PLAN, pages=pages), tmp_path / "plan")
    assert (tmp_path / "plan").read_text() == plan_text(replace(PLAN, pages=pages)) == (
        "numaplace-plan 3\n"
        f"machine {TOPOLOGY.fingerprint} four%20by%20two\n"
        f"mapping {LABEL}\n"
        "module 7f /home/a%20b/app%0A\nmodule 80 /lib/libx.so\n"
        "region 00000000000000ab 2 4f0 0\nteam 0 2 4\nteam 1 2 4\n"
        "region ffffffffffffffff 0 0 1\nteam 3 1 1\nwant 1\nwant 12\n"
        "region 00000000000000cd 2 10 1\nwant 0\n"
        "range 1 0000000000000001 0 0 12\nrun 0 5 10\nrun 5 7 11\n"
        "range 1 0000000000000002 0 0 1\nrun 0 1 11\nend\n"
    )  # fmt: skip
    assert read_plan(tmp_path / "plan") == PLAN  # the pages are the library's


def test_a_range_that_moves_has_its_places(tmp_path: Path) -> None:
    profile = parse_profile(profile_bytes([(2, [(0, 0, 1.0)]), (1, [(0, 3, 1.0)])], 4))
    home, there = (
        plan_of(profile, resolve(parse_label(label), TOPOLOGY), profile.ranges[:1])
        for label in ("4x2-contiguous-locality", "4x2-contiguous-interleave")
    )
    pages = joined([moving([(3, home), (0, there)]), plan_of(profile, PLACEMENT, profile.ranges[1:])])
    write_plan(replace(PLAN, pages=pages), tmp_path / "plan")
    _, _, after = (tmp_path / "plan").read_text().partition("range ")
    assert after == (
        "1 0000000000000001 0 0 2\nplace 3\nrun 0 2 10\nplace 0\nrun 0 1 10\nrun 1 1 11\n"
        "range 1 0000000000000002 0 0 1\nrun 0 1 11\nend\n"
    )
    assert read_plan(tmp_path / "plan") == PLAN


@given(st.lists(st.integers(0, 4095), min_size=1, max_size=40))
def test_slots_come_back_in_their_order(tmp_path_factory: pytest.TempPathFactory, slots: list[int]) -> None:
    path = tmp_path_factory.mktemp("plans") / "plan"
    plan = replace(PLAN, regions=(replace(REGIONS[1], slots=tuple(slots)),))
    write_plan(plan, path)
    assert read_plan(path) == plan


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is no plan"),
        ("numaplace-plan 1\n", "version 1"),
        ("numaplace-plan 2\n", "version 2"),
        ("numaplace-plan 3\n", "no whole plan"),
        ("numaplace-plan 3\nmapping a\nregion 1 0 0 0\nteam 0 1 1\nend\n", "no whole plan: it lacks"),
        ("numaplace-plan 3\nmapping a\nmodule 1 /a\nregion 1 0 0 0\nend\n", "no whole plan: it lacks"),
        ("numaplace-plan 3\nteam 0 1 1\n", "line 2"),
        ("numaplace-plan 3\nwant 0\n", "line 2"),
        ("numaplace-plan 3\nmapping a\nmodule 1 /a\nregion 1 0 0 0\nwant 0 1\n", "line 5"),
        ("numaplace-plan 3\nmapping a\nregion 1 0 0\n", "line 3"),
        ("numaplace-plan 3\nmapping a\nmachine 1\n", "line 3"),
        ("numaplace-plan 3\nwhat 1\n", "belongs in no plan"),
    ],
)
def test_a_file_that_is_no_plan_is_one_line(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "plan").write_text(text)
    with pytest.raises(InvalidInputError, match=expected) as error:
        read_plan(tmp_path / "plan")
    assert "\n" not in str(error.value)


RANGE = "range 1 00ab 0 0 9\n"


@pytest.mark.parametrize(
    ("lines", "bad"),
    [
        (RANGE + "run 0 9 0\n" + RANGE, 0),
        (RANGE + "place 0\nrun 0 4 0\nrun 4 5 1\nplace 1\nrun 0 9 0\n" + RANGE + "place 0\nplace 1\n", 0),
        ("run 0 9 0\n", 1),
        ("place 0\n", 1),
        ("range 1 00ab 0 9\n", 1),
        ("range 1 00xy 0 0 9\n", 1),
        (RANGE + "run 0 10 0\n", 2),
        (RANGE + "run 0 0 0\n", 2),
        (RANGE + "run 0 2 1024\n", 2),
        (RANGE + "run -1 2 0\n", 2),
        (RANGE + "run 0 2\n", 2),
        (RANGE + "run 0 2 0 0\n", 2),
        (RANGE + "run  0 2 0\n", 2),
        (RANGE + "run 0 2 0\nrun 1 2 0\n", 3),
        (RANGE + "run 0 2 0\nplace 0\n", 3),
        (RANGE + "place 4096\n", 2),
        (RANGE + "place 0\nplace 0\n", 3),
        (RANGE + "place 0\nplace 1\n" + RANGE + "place 1\n", 5),  # arrays with a place in common begin in the same
        ("region 1 4294967296 0 0\n", 1),
        ("region 1 0 0 0\nwant 4096\n", 2),
        (RANGE + "run 0 2 \x00\n", 2),
    ],
)
def test_a_line_for_which_the_library_would_leave_the_plan_alone_is_told(tmp_path: Path, lines: str, bad: int) -> None:
    path = tmp_path / "plan"
    path.write_text(f"numaplace-plan 3\nmapping {LABEL}\n{lines}end\n")
    if not bad:
        read_plan(path)
        return
    with pytest.raises(InvalidInputError, match=rf"line {bad + 2}: '.*' belongs in no plan") as error:
        read_plan(path)
    assert str(error.value).isprintable()


def test_a_plan_that_was_cut_or_has_teams_of_other_mappings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan"
    whole = f"numaplace-plan 3\nmapping {LABEL}\n{RANGE}run 0 9 1\nend\n"
    path.write_text(whole)
    read_plan(path)
    for cut in range(len(whole) - 1, len("numaplace-plan 3"), -1):
        path.write_text(whole[:cut])
        with pytest.raises(InvalidInputError, match="make it again"):
            read_plan(path)
    path.write_text(whole + whole)
    with pytest.raises(InvalidInputError, match="line 6"):
        read_plan(path)
    path.write_text(whole.replace("mapping", "module 1 /pha%00ses\nmapping"))
    with pytest.raises(InvalidInputError, match="line 2"):
        read_plan(path)
    path.write_text(f"numaplace-plan 3\nmapping {LABEL}\n{RANGE}run 0 9 1\n")
    with pytest.raises(InvalidInputError, match="its end is missing; make it again"):
        read_plan(path)
    for slots in ((8,), (*range(8), 0)):
        plan = replace(PLAN, modules=(), regions=(PlannedRegion(1, "", 0, slots),))
        with pytest.raises(InvalidInputError, match=f"the 8 threads of {LABEL} do not have"):
            check_fits(plan, path, TOPOLOGY)


def test_a_plan_of_another_machine_or_build_is_refused(tmp_path: Path) -> None:
    app, path = tmp_path / "app", tmp_path / "plan"
    app.write_text("one")
    plan = Plan(TOPOLOGY.fingerprint, TOPOLOGY.name, LABEL, builds_of([str(app), str(app), "/nowhere/app"]))
    assert len(plan.modules) == 1
    check_fits(plan, path, TOPOLOGY)
    with pytest.raises(InvalidInputError, match="four by two, and this computer is another machine"):
        check_fits(plan, path, shape([8]))
    app.write_text("two")
    with pytest.raises(InvalidInputError, match=f"another build of {app}: make it again"):
        check_fits(plan, path, TOPOLOGY)
    app.unlink()
    with pytest.raises(InvalidInputError, match="cannot be read"):
        check_fits(plan, path, TOPOLOGY)


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_a_program_is_known_by_its_build_id_if_it_has_one(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")

    def build(*options: str) -> str:
        subprocess.run([GCC, *options, "-o", tmp_path / "app", tmp_path / "app.c"], check=True)
        return build_of(str(tmp_path / "app"))

    assert build("-Wl,--build-id=0x1234") == "1234"
    hashed = build("-Wl,--build-id=none")
    assert len(hashed) == 64
    assert build("-Wl,--build-id=none", "-O2", "-g") != hashed
