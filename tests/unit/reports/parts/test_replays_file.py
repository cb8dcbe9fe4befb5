"""An answer of `regions -o FILE` that is read again: what passes, and what is refused in one line."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from numapredict.native.errors import InvalidInputError
from numapredict.predictor.command_line.main import main
from numapredict.predictor.regions.one_mapping import OneMapping
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.reports.parts.answer_file import read_answer
from numapredict.reports.parts.replays_file import open_replays, read_replays
from tests.judged import judged_answer
from tests.replayed import SPREAD, base, gain, on_a_server

replace = msgspec.structs.replace
ANSWER = on_a_server()


def of_first(**fields: object) -> ReplayedRegions:
    return replace(ANSWER, regions=(replace(ANSWER.regions[0], **fields),))


def of_gain(**fields: object) -> ReplayedRegions:
    return of_first(gains=(base(), replace(gain(SPREAD, 2.0, 1.9, 3), **fields)))


IMPOSSIBLE: dict[str, Callable[[], ReplayedRegions]] = {
    "baseline: 'x' is not": lambda: replace(ANSWER, baseline="x"),
    "wall_s: -1 cannot": lambda: replace(ANSWER, wall_s=-1.0),
    "region 1, count: 0": lambda: of_first(count=0),
    "region 1, team: 5000": lambda: of_first(team=5000),
    "region 1, share: 1.5": lambda: of_first(share=1.5),
    "region 1, replay_ratio: -1": lambda: of_first(replay_ratio=-1.0),
    "region 1, gains: 'three": lambda: of_gain(mapping="three\nlines"),
    f"region 1, gains: the first is of {SPREAD}": lambda: of_first(gains=(gain(SPREAD, 2.0, 1.9, 3),)),
    "region 1, gains: a mapping is there twice": lambda: of_first(gains=(base(), base())),
    f"region 1, gain of {SPREAD}: it has a part": lambda: of_gain(time_s=None),
    f"region 1, gain of {SPREAD}, rounds: 0": lambda: of_gain(rounds=0),
    f"region 1, gain of {SPREAD}, speedup: 0": lambda: of_gain(speedup=0.0, lowest=0.0),
    f"region 1, gain of {SPREAD}, speedup: 2, of which the lowest is 3": lambda: of_gain(lowest=3.0),
    "one_mapping 1, speedup: -1": lambda: replace(ANSWER, one_mapping=(OneMapping(SPREAD, -1.0, -1.0),)),
}


def test_an_answer_is_read_from_its_file_and_from_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = msgspec.json.encode(ANSWER)
    (tmp_path / "a.json").write_bytes(data)
    assert open_replays(str(tmp_path / "a.json")) == read_answer(data, "a file") == ANSWER
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert open_replays("-") == ANSWER


def test_fields_of_later_versions_are_left_alone() -> None:
    told = msgspec.json.decode(msgspec.json.encode(ANSWER))
    told["later"] = {"path": "app.plan"}
    told["regions"][0] |= {"later": 0.5}
    told["regions"][0]["gains"][0] |= {"later": 1.0}
    assert read_replays(msgspec.json.encode(told), "a file") == ANSWER


@pytest.mark.parametrize("said", IMPOSSIBLE)
def test_impossible_values_are_refused_in_one_line(said: str) -> None:
    data = msgspec.json.encode(IMPOSSIBLE[said]())
    for read, start in ((read_answer, f"a file: {said}"), (read_replays, f"a file is no answer on regions ({said}")):
        with pytest.raises(InvalidInputError) as refused:
            read(data, "a file")
        assert str(refused.value).startswith(start)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            msgspec.json.encode(judged_answer()),
            "is no answer on regions (Object missing required field",
        ),  # of `variables`
        (b'{"answer": "searched", "program": "./app"}', "missing required field `command`"),
        (b'{"command": ["./app"', "is no answer on regions (Input data was truncated)"),
        (b"\xff\xfe\x00", "is no answer on regions"),
        (b"[" * 100_000, "is no answer on regions"),
        (None, "cannot read"),
    ],
)
def test_other_files_are_one_line_and_exit_code_2(
    tmp_path: Path, text: bytes | None, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, figure = tmp_path / "a.json", tmp_path / "a.png"
    if text is not None:
        path.write_bytes(text)
    assert main(["report", "regions", str(path), "-o", str(figure)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert says in told
    assert str(path) in told
    assert not figure.exists()


def test_a_figure_is_written_and_its_data_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_bytes(msgspec.json.encode(ANSWER))
    assert main(["report", "regions", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.svg"), "--json"]) == 0
    out = capsys.readouterr()
    assert msgspec.json.decode(out.out)["rows"][0]["name"] == "sweep, solver.cc:812"
    assert "under other mappings (measured)" in out.err
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert main(["report", "regions", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.pdf")]) == 2


def test_a_time_without_end_is_refused() -> None:
    data = msgspec.json.encode(ANSWER).replace(b'"wall_s":112.0', b'"wall_s":1e999')
    with pytest.raises(InvalidInputError, match="a file is no answer on regions"):
        read_replays(data, "a file")
