"""`numapredict report PREDICTION --profile FILE`: each node's share of the pages."""

import json
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.host.host import topology_from_file
from numapredict.collect.mapping import from_label, to_label
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.command_line.main import main
from numapredict.predictor.learning.datasets import open_dataset
from tests.advised import answer_on
from tests.profiles import profile_bytes
from tests.searches import DEFAULT, LOCAL, Computer, Described, answered, times

MACHINES = Path(__file__).parents[1] / "machines"


@pytest.fixture(scope="module")
def advice() -> Advice:
    """The advice for a program of a described machine whose pages go where they are used."""
    dataset = open_dataset("sandybridge-4x8")
    for program in dataset.programs:
        found = answer_on(dataset, program)
        if isinstance(found, Advice) and "-locality" in found.mapping.label:
            return found
    raise AssertionError("no program is advised to have its pages where they are used")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pages: the first of 32 threads uses nine, the last three."""
    path = tmp_path_factory.mktemp("profile") / "app.profile"
    path.write_bytes(profile_bytes([(9, [(0, 0, 5.0)]), (3, [(0, 31, 5.0)])], slots=32))
    return path


def page_of(advice: Advice, folder: Path, *words: str) -> tuple[int, str]:
    """Return the exit code and the page."""
    (folder / "advice.json").write_bytes(msgspec.json.encode(advice, enc_hook=to_label))
    code = main(["report", str(folder / "advice.json"), "-o", str(folder / "page.html"), *words])
    page = folder / "page.html"
    return code, page.read_text(encoding="utf-8") if page.exists() else ""


def test_a_profile_tells_each_nodes_share(advice: Advice, profile: Path, tmp_path: Path) -> None:
    code, page = page_of(advice, tmp_path, "--profile", str(profile))
    assert code == 0
    assert "75% of the pages (9)" in page
    assert "25% of the pages (3)" in page
    assert page.count('class="bar share"') == 2
    assert '<rect width="75.0"' in page
    code, without = page_of(advice, tmp_path)
    assert code == 0
    assert "75% of the pages" not in without
    assert "numapredict run --profile" in without


def here(machine: str) -> Advice:
    """Return the answer of timed runs on a machine, for a mapping that fits two nodes of two cores."""
    found = msgspec.json.encode(answered(Computer(times(8.0, local=4.0))), enc_hook=to_label)
    text = found.decode().replace(LOCAL.label, "4x2-contiguous-locality").replace('"planted"', json.dumps(machine))
    return msgspec.json.decode(text, type=Advice, dec_hook=from_label)


def test_of_this_computer_the_nodes_are_known(profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    xml = MACHINES / "four-node.xml"
    monkeypatch.setenv("HWLOC_XMLFILE", str(xml))
    code, page = page_of(here(topology_from_file(xml).name), tmp_path, "--profile", str(profile))
    assert code == 0
    assert "75% of the pages (9)" in page


def test_of_another_computer_they_are_not(
    profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HWLOC_XMLFILE", str(MACHINES / "four-node.xml"))
    code, page = page_of(here("elsewhere"), tmp_path, "--profile", str(profile))
    assert (code, page) == (2, "")
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1
    assert "elsewhere" in reported
    assert "numapredict report mapping 4x2-contiguous-locality --profile" in reported


def test_a_profile_is_for_a_prediction(profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["report", "broadwell-2x10", "-o", str(tmp_path / "page.html"), "--profile", str(profile)]
    assert main(words) == 2
    assert "--profile is for an answer" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_search_that_keeps_the_program_has_no_mapping_to_draw(
    profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answered(Computer(times(8.0)))
    (tmp_path / "kept.json").write_bytes(msgspec.json.encode(found, enc_hook=to_label))
    words = ["report", str(tmp_path / "kept.json"), "-o", str(tmp_path / "page.html"), "--profile", str(profile)]
    assert main(words) == 2
    assert "--profile: the answer keeps the program as it is" in capsys.readouterr().err


def test_the_mapping_of_a_search_is_drawn_with_a_profile(profile: Path, tmp_path: Path) -> None:
    found = answered(Described(times(8.0, local=4.0)), baseline=DEFAULT)
    (tmp_path / "won.json").write_bytes(msgspec.json.encode(found, enc_hook=to_label))
    words = ["report", str(tmp_path / "won.json"), "-o", str(tmp_path / "page.html"), "--profile", str(profile)]
    assert main(words) == 0
    assert "75% of the pages (9)" in (tmp_path / "page.html").read_text(encoding="utf-8")
