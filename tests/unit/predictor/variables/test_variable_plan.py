"""Which variables a plan places, and how; all others are left to first touch."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.profile_file import FIRST, SAMPLE, Profile, ProfiledRange
from numapredict.collect.source.modules import Modules
from numapredict.native.errors import UnwritableError, UsageError
from numapredict.predictor.variables.analysis import judged
from numapredict.predictor.variables.grouping import Found
from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.planning import planned as written
from numapredict.predictor.variables.touches import touches_of
from numapredict.predictor.variables.variable import VariablePlan
from numapredict.predictor.variables.variable_plan import plans_of
from tests.shapes import shape

PLACEMENT = resolve(parse_label("4x2-contiguous-first-touch"), shape([2, 2]))  # nodes 10 and 11 to the system
PAGES = 64


def profile(tables: list[list[int]]) -> Profile:
    """Return a profile of ranges whose page n the n-th thread of a list touches, over and over, after thread 0."""
    rows, ranges = [], []
    for number, threads in enumerate(tables):
        slots = np.array(threads * (PAGES // len(threads)))
        known = ProfiledRange(
            kind=1, site=number, slot=0, order=0, pages=PAGES, first=len(rows), count=PAGES, module="/absent/app",
            offset=64 * number, size_bytes=4096 * PAGES, firsts=np.array([(0, PAGES, 0, 0, 0, 0, 2)], FIRST),
        )  # fmt: skip
        ranges.append(known)
        rows += list(enumerate(slots))
    samples = np.zeros(len(rows), SAMPLE)
    samples["page"], samples["slot"] = np.array(rows).T
    samples["armed"] = samples["touches"] = 4
    samples["rate"] = 10.0
    return Profile(4, 4096, tuple(ranges), samples, 1, 1, 0, 1.0)


def planned(tables: dict[str, list[int]], into: Path, *names: str, whole: bool = True) -> VariablePlan | None:
    sampled = profile(list(tables.values()))
    found = [
        Found("allocated", name, "", 4096 * PAGES, None, None, (known if whole else replace(known, pages=PAGES - 1),),
              touches_of(sampled, [known], 0.1))
        for name, known in zip(tables, sampled.ranges, strict=True)
    ]  # fmt: skip
    judges = judged(found, sampled, Modules(), PageNodes((0, 0, 1, 1)))
    plan, notes = written(plans_of(judges, names, sampled, PLACEMENT), PLACEMENT, into, None, ())
    assert notes == (() if plan else (f"nothing is worth placing elsewhere: {into} was not written",))
    return plan


def mixed(seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, 4, PAGES).tolist()


BLOCKS = [0] * 16 + [1] * 16 + [2] * 16 + [3] * 16


def test_what_all_use_is_interleaved_and_blocks_go_to_their_threads(tmp_path: Path) -> None:
    found = planned({"table": mixed(1), "field": BLOCKS, "own": [0]}, tmp_path / "plan")
    assert found is not None
    assert {one.name: (one.how, one.pages) for one in found.variables} == {
        "table": ("interleaved", PAGES),
        "field": ("with its threads", PAGES),
    }
    assert found.mapping == "4x2-contiguous-first-touch"
    text = (tmp_path / "plan").read_text().removesuffix("end\n")
    field = text[text.index("range 1 0000000000000001") :].split("range", 2)[1].splitlines()[1:]
    assert [line for line in field if line] == ["run 0 32 10", "run 32 32 11"]
    table = text[text.index("range 1 0000000000000000") :].split("range", 2)[1].splitlines()[1:]
    assert len([line for line in table if line]) == PAGES
    assert "range 1 0000000000000002" not in text


def test_one_variable_alone_is_placed_by_its_name(tmp_path: Path) -> None:
    found = planned({"table": mixed(1), "field": BLOCKS}, tmp_path / "plan", "field")
    assert found is not None
    assert [one.name for one in found.variables] == ["field"]
    assert (tmp_path / "plan").read_text().count("range") == 1


def test_without_anything_worth_it_nothing_is_written(tmp_path: Path) -> None:
    assert planned({"own": [0]}, tmp_path / "plan") is None
    assert planned({"table": mixed(1)}, tmp_path / "plan", whole=False) is None
    assert not (tmp_path / "plan").exists()


def test_what_cannot_be_placed_is_one_line(tmp_path: Path) -> None:
    tables = {"table": mixed(1), "own": [0]}
    with pytest.raises(UsageError, match=r"no variable missing was sampled; these were: .*table"):
        planned(tables, tmp_path / "plan", "missing")
    with pytest.raises(UsageError, match="own is not worth"):
        planned(tables, tmp_path / "plan", "own")
    with pytest.raises(UsageError, match="without stripping"):
        planned(tables, tmp_path / "plan", "table", whole=False)
    with pytest.raises(UnwritableError, match="name another file"):
        planned(tables, tmp_path / "absent" / "plan")
