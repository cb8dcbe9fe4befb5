"""What is in the file; what a browser makes of it is in tests/integration/test_page_in_browser.py."""

import base64
import hashlib
import html.parser
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from numapredict.collect.dataset import Dataset, write_dataset
from numapredict.collect.machines.recorded import RecordedMachine
from numapredict.collect.mapping import OpaqueMapping
from numapredict.predictor.advice import Advice, advise
from numapredict.predictor.evaluate import evaluate_held_out, together
from numapredict.predictor.model import Model
from numapredict.predictor.model_choice import ChosenModel
from numapredict.predictor.options import TrainingOptions
from numapredict.predictor.train import train
from numapredict.reports.contents import page_data
from numapredict.reports.page import UnwritablePageError, render, write_page
from numapredict.reports.parts.held_out import InvalidEvaluationError
from numapredict.reports.subject import Subject, open_subject
from tests.hostile import NAMES, with_hostile_names
from tests.planted import planted_dataset

OPTIONS = TrainingOptions(n_clusters=5, feature_kinds=("ratio",))


class Document(html.parser.HTMLParser):
    """A page's tags, the texts in them, and its scripts, as the HTML standard reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "input", "br", "rect"}:
            self.open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def records(self) -> Any:  # noqa: ANN401 # any JSON
        return json.loads(self.texts["script"][0])


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def model(dataset: Dataset) -> Model:
    return train(dataset, OPTIONS)


@pytest.fixture(scope="module")
def advice(dataset: Dataset, model: Model) -> Advice:
    return advise(dataset.programs[1], RecordedMachine(dataset), ChosenModel(model, "a test's model"))


@pytest.fixture(scope="module")
def pages(dataset: Dataset, model: Model, advice: Advice) -> dict[str, str]:
    subjects = {
        "dataset": Subject(name="planted", dataset=dataset),
        "model": Subject(name="planted", model=model, origin="m.json"),
        "both": Subject(name="planted", dataset=dataset, model=model),
        "prediction": Subject(name=advice.program, advice=advice),
    }
    return {name: render(page_data(subject)) for name, subject in subjects.items()}


@pytest.mark.parametrize("kind", ["dataset", "model", "both", "prediction"])
def test_only_the_written_script_and_style_may_be_used(pages: dict[str, str], kind: str) -> None:
    document = Document(pages[kind])
    policy = next(attrs["content"] for tag, attrs in document.tags if attrs.get("http-equiv"))
    assert policy is not None
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    for source, text in (("script-src", document.texts["script"][1]), ("style-src", document.texts["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy
    assert [attrs.get("type") for tag, attrs in document.tags if tag == "script"] == ["application/json", None]
    asks = {"src", "srcset", "style", "action", "data", "poster"}
    assert not [
        (tag, attrs)
        for tag, attrs in document.tags
        if asks & set(attrs) or any(name.startswith("on") for name in attrs) or tag in {"link", "iframe", "object"}
    ]
    assert all((attrs["href"] or "").startswith("#") for tag, attrs in document.tags if "href" in attrs)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", pages[kind]), "nothing names another address"


@pytest.mark.parametrize("kind", ["dataset", "model", "both", "prediction"])
def test_modelled_is_said_at_the_top_and_in_every_caption(pages: dict[str, str], kind: str) -> None:
    document = Document(pages[kind])
    assert "(modelled)" in document.texts["title"][0]
    assert "Modelled." in document.texts["header"][0]
    captions = document.texts.get("caption", []) + document.texts.get("figcaption", [])
    assert len(captions) >= 2
    assert [text for text in captions if not text.rstrip().endswith("(modelled)")] == []


def test_measured_figures_are_not_called_modelled(dataset: Dataset) -> None:
    measured = msgspec.structs.replace(
        dataset,
        modelled=False,
        measurements=tuple(msgspec.structs.replace(m, modelled=False) for m in dataset.measurements),
    )
    document = Document(render(page_data(Subject(name="planted", dataset=measured))))
    assert "modelled" not in " ".join(document.texts["body"])
    assert all("(measured)" in text for text in document.texts["caption"] + document.texts["figcaption"])


def test_equal_records_give_equal_pages(pages: dict[str, str], dataset: Dataset) -> None:
    assert render(page_data(Subject(name="planted", dataset=dataset))) == pages["dataset"]


@pytest.mark.parametrize("kind", ["dataset", "model", "prediction"])
def test_names_are_text_wherever_they_stand(kind: str, pages: dict[str, str]) -> None:
    hostile = with_hostile_names(planted_dataset(15))
    model = train(hostile, OPTIONS)
    if kind == "dataset":
        subject = Subject(name=NAMES[0], dataset=hostile)
    elif kind == "model":
        subject = Subject(name=NAMES[1], model=model, origin=NAMES[3])
    else:
        asked = msgspec.structs.replace(hostile.programs[1], command=("./app", *NAMES))
        hostile = msgspec.structs.replace(hostile, programs=(hostile.programs[0], asked, *hostile.programs[2:]))
        advice = advise(asked, RecordedMachine(hostile), ChosenModel(model, NAMES[3]))
        subject = Subject(name=advice.program, advice=advice)
    page = render(page_data(subject))
    document, plain = Document(page), Document(pages[kind])
    assert {tag for tag, _ in document.tags} <= {tag for tag, _ in plain.tags} | {"details", "summary"}
    assert len(document.texts["script"]) == 2
    assert len(document.texts["style"]) == 1
    assert {name for _, attrs in document.tags for name in attrs} <= {
        name for _, attrs in plain.tags for name in attrs
    } | {"data-value"}
    assert "&amp;lt;b&amp;gt;" in page
    body = " ".join(document.texts["body"])
    shown = NAMES if kind != "prediction" else NAMES[:1]
    assert [name for name in shown if name not in body] == []
    if kind != "prediction":
        records = document.records()
        programs = records["heatmap" if kind == "dataset" else "tree"]["programs"]
        assert set(NAMES) < set(programs), "the script reads the very names"


def test_a_page_for_120_programs_is_small(tmp_path: Path) -> None:
    data = page_data(Subject(name="planted", dataset=planted_dataset(120, subset="full")))
    size_bytes = write_page(data, tmp_path / "new" / "page.html")
    assert size_bytes == (tmp_path / "new" / "page.html").stat().st_size < 5e6


def test_held_out_figures_come_from_an_evaluation_alone(
    tmp_path: Path, dataset: Dataset, model: Model, pages: dict[str, str]
) -> None:
    assert "Not known" in pages["model"]
    assert "gain captured" not in pages["model"]
    evaluation = evaluate_held_out(dataset, OPTIONS)
    path = tmp_path / "evaluation.json"
    path.write_bytes(msgspec.json.encode(together([evaluation])))
    subject = Subject(name="planted", model=model, origin="m.json")
    page = render(page_data(subject, evaluation=path))
    assert "Not known" not in page
    assert evaluation.gain_captured is not None
    rows = [text for text in Document(page).texts["tr"] if text.startswith("two probes")]
    assert len(rows) == 1
    assert f"{evaluation.speedup.geometric:.2f}x" in rows[0]
    assert f"{evaluation.gain_captured:.2f}" in rows[0]
    other = msgspec.structs.replace(subject, model=msgspec.structs.replace(model, machine="another"))
    with pytest.raises(InvalidEvaluationError, match="planted-4x8"):
        page_data(other, evaluation=path)
    options = msgspec.structs.replace(model, options=TrainingOptions(n_clusters=4, feature_kinds=("ratio",)))
    with pytest.raises(InvalidEvaluationError, match="options"):
        page_data(msgspec.structs.replace(subject, model=options), evaluation=path)
    path.write_text("{}")
    with pytest.raises(InvalidEvaluationError, match="evaluate"):
        page_data(subject, evaluation=path)


def test_other_peoples_mappings_have_a_page_too(dataset: Dataset) -> None:
    def named(label: str) -> OpaqueMapping:
        return OpaqueMapping(f"plan <b>{label}</b>")

    foreign = msgspec.structs.replace(
        dataset,
        topology=None,
        default=named("32x4-contiguous-first-touch").label,
        measurements=tuple(msgspec.structs.replace(m, mapping=named(m.mapping.label)) for m in dataset.measurements),
    )
    document = Document(render(page_data(Subject(name="foreign", dataset=foreign))))
    assert not [tag for tag, _ in document.tags if tag == "b"]
    assert set(document.records()["heatmap"]["sizes"]) == {""}
    assert "The machine" not in document.texts["nav"][0]


def test_one_program_has_a_page() -> None:
    document = Document(render(page_data(Subject(name="one", dataset=planted_dataset(1)))))
    assert document.records()["heatmap"]["branches"] == []


def test_a_predictions_commands_and_findings_are_there(pages: dict[str, str], advice: Advice) -> None:
    body = Document(pages["prediction"]).texts["body"][0]
    assert advice.explanation.findings
    assert all(finding.text[1:] in body for finding in advice.explanation.findings)
    assert advice.command in Document(pages["prediction"]).texts["pre"][0]
    assert len(Document(pages["prediction"]).texts["article"]) == len(advice.alternatives) >= 4


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path, dataset: Dataset) -> None:
    data = page_data(Subject(name="planted", dataset=dataset))
    with pytest.raises(UnwritablePageError, match=r"page\.png: .*\.html"):
        write_page(data, tmp_path / "page.png")
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritablePageError, match="another folder"):
        write_page(data, tmp_path / "file" / "page.html")


def test_a_shipped_like_folder_round_trips(tmp_path: Path, dataset: Dataset, pages: dict[str, str]) -> None:
    write_dataset(dataset, tmp_path / "planted")
    assert render(page_data(open_subject(str(tmp_path / "planted")))) == pages["dataset"]
