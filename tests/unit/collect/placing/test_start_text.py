from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing import start_text
from numapredict.collect.placing.run_options import RunOptions
from numapredict.collect.placing.start import Start
from numapredict.collect.placing.start_text import start_in_words
from tests.shapes import shape

TOPOLOGY = shape([2, 2])
FIRST_TOUCH, INTERLEAVE = (parse_label(f"2x2-contiguous-{policy}") for policy in ("first-touch", "interleave"))


def start(way: str, **fields: object) -> Start:
    return Start(command=("/bin/app",), environment={}, cpus=(0,), way=way, **fields)  # type: ignore[arg-type]


def said(how: Start, label: str = FIRST_TOUCH.label, options: RunOptions | None = None) -> list[str]:
    return list(start_in_words(how, resolve(parse_label(label), TOPOLOGY), options or RunOptions()))


def test_nothing_is_said_where_all_is_as_the_mapping_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_text, "balancing_is_on", lambda: True)
    assert said(start("library"), options=RunOptions(verify=True)) == []


def test_balancing_undoes_first_touch_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_text, "balancing_is_on", lambda: True)
    how = start("numactl", obstacle="it is statically linked")
    assert "automatic NUMA balancing is on" in said(how)[-1]
    assert len(said(how, INTERLEAVE.label)) == 1  # an explicit policy keeps it off
    assert len(said(how, options=RunOptions(balancing=False))) == 1
    monkeypatch.setattr(start_text, "balancing_is_on", lambda: False)
    assert len(said(how)) == 1


def test_what_needs_the_library_is_said_to_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_text, "balancing_is_on", lambda: False)
    how = start("numactl", obstacle="it is statically linked", doubts=("a doubt",), overridden="X=1 left out")
    assert said(how, options=RunOptions(verify=True, regions=True)) == [
        "the mapping overrides your environment: X=1 left out",
        "the preload library cannot place app: it is statically linked; its threads are placed by OMP_PLACES",
        "left out without the library: --verify, --regions",
        "a doubt",
    ]


def test_pages_that_nobody_can_be_asked_about_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_text, "page_queries_refused", lambda: "move_pages: Operation not permitted")
    assert said(start("library")) == []
    for options in (RunOptions(verify=True), RunOptions(json=Path("found"))):
        (line,) = said(start("library"), options=options)
        assert line.startswith("this system does not show where pages are (move_pages: Operation not permitted)")
