"""What a characterisation leaves in its folder, and what it tells a person."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from numapredict.native.errors import NumapredictError
from numapredict.reports.characterisation.files import write_characterisation
from numapredict.reports.characterisation.tables import nodes_csv, runs_csv, times_csv
from numapredict.reports.characterisation.words import NO_COUNTERS, characterisation_in_words
from tests.unit.collect.campaign.characterisation.test_result import TIMES_S, characterised
from tests.unit.reports.characterisation.drawn import one_node

FIGURES = {f"{name}.{kind}" for name in ("times", "page-policies", "accesses", "bandwidth") for kind in ("png", "svg")}
TABLES = {"characterisation.json", "times.csv", "runs.csv", "nodes.csv"}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.thorough
def test_everything_is_written_and_what_is_out_of_date_goes(written: tuple[Path, list[str]], tmp_path: Path) -> None:
    folder = shutil.copytree(written[0], tmp_path / "copied")
    assert set(written[1]) == FIGURES | TABLES
    assert {path.name for path in folder.iterdir()} == FIGURES | TABLES
    assert all(path.stat().st_size > 5000 for path in folder.glob("*.png"))
    assert json.loads((folder / "characterisation.json").read_text())["fastest"] == "4x2-contiguous-locality"
    uncounted = {name for name in FIGURES | TABLES if not name.startswith(("accesses", "bandwidth", "nodes"))}
    assert set(write_characterisation(characterised(counted=False), folder)) == uncounted
    assert {path.name for path in folder.iterdir()} == uncounted
    write_characterisation(one_node(), folder)
    assert {path.name for path in folder.iterdir()} == {
        "characterisation.json",
        "times.csv",
        "runs.csv",
        "times.png",
        "times.svg",
    }


def test_a_folder_that_is_a_file_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NumapredictError, match=r"cannot write into .*choose another folder"):
        write_characterisation(characterised(), tmp_path / "file")


def test_the_tables_hold_every_time_and_counter() -> None:
    found = characterised(regions=None)
    runs = rows(runs_csv(found))
    assert {row["mapping"]: float(row["time_s"]) for row in runs} == TIMES_S
    assert (runs[0]["threads"], runs[0]["page_policy"], runs[0]["slowdown"]) == ("4", "locality", "1.0")
    cells = {(r["thread_policy"], r["threads"], r["thread_nodes"]): r for r in rows(times_csv(found))}
    assert len(cells) == 8
    assert cells["scatter", "2", "1"]["mapping"] == "2x1-contiguous-bind"
    assert float(cells["scatter", "4", "2"]["time_s"]) == 7.5
    nodes = rows(nodes_csv(found))
    assert len(nodes) == 2 * len(TIMES_S)
    assert (nodes[1]["node"], nodes[1]["remote_accesses"], nodes[1]["remote_bandwidth_GBps"]) == (
        "1",
        "4000000.0",
        "1.5",
    )


def test_the_words_have_the_tables_and_what_matters() -> None:
    text = characterisation_in_words(characterised(regions=None))
    lines = [line.split() for line in text.splitlines()]
    assert text.startswith("./app 7 on two (modelled): run time in s")
    assert ["4", "6.00"] in lines
    assert ["2", "9.00", "8.00"] in lines
    assert ["locality", "3.00", "4.50"] in lines
    assert ["remote", "20.0"] in lines
    assert ["fastest", "4x2-contiguous-locality", "3.00", "s"] in lines
    assert ["slowest", "2x1-contiguous-remote", "20.0", "s", "6.67x", "the", "fastest"] in lines
    assert ["node", "1", "6.00", "4.00", "2.00", "1.50"] in lines
    assert NO_COUNTERS not in text


def test_the_words_say_that_nothing_is_counted() -> None:
    sampled = characterisation_in_words(characterised(counted=False, sampled=0.6)).splitlines()
    assert sampled[-3] == NO_COUNTERS
    assert sampled[-1] == "4x2-contiguous-locality: 60% of sampled accesses are local"
    text = characterisation_in_words(one_node())
    assert text.splitlines()[-1] == NO_COUNTERS
    assert "by page policy" not in text
    assert "scatter" not in text
