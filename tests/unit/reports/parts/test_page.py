"""What is in the file; what a browser makes of it is in tests/integration/test_page_in_browser.py."""

import base64
import hashlib
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset, write_dataset
from numapredict.collect.mapping import AnyMapping, to_label
from numapredict.collect.terminal.printable import printable
from numapredict.native.errors import InvalidInputError, UnwritableError, UsageError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.explanation import Close
from numapredict.predictor.evaluation.evaluate import evaluate_held_out, together
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import named_model, shipped_models
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.reports.parts.answer_file import read_answer
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render, write_page
from numapredict.reports.parts.subject import Subject, open_subject
from tests.advised import advised_on
from tests.hostile import NAMES, with_hostile_names
from tests.html_document import Document
from tests.planted import planted_dataset
from tests.unit.reports.parts.conftest import OPTIONS


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
    plain = [text for text in captions if not text.rstrip().endswith("(modelled)")]
    facts = (
        "NUMA nodes of",
        "Relative cost",
        "The two probe runs that the model asks for",
        "32x4-contiguous-locality;",
    )
    assert [text for text in plain if not text.startswith(facts)] == [], "only what no model computed goes without"
    assert [text for text in captions if text.startswith(facts) and text not in plain] == []
    assert len(plain) == {"dataset": 2, "model": 1, "both": 3, "prediction": 1}[kind]


def test_measured_figures_are_not_called_modelled(dataset: Dataset) -> None:
    measured = msgspec.structs.replace(
        dataset,
        modelled=False,
        measurements=tuple(msgspec.structs.replace(m, modelled=False) for m in dataset.measurements),
    )
    document = Document(render(page_data(Subject(name="planted", dataset=measured))))
    assert "modelled" not in " ".join(document.texts["body"])
    captions = document.texts["caption"] + document.texts["figcaption"]
    assert sum("(measured)" in text for text in captions) == len(captions) - 2 > 5, "all but the machine's"


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
        advice = advised_on(hostile, asked, model)
        subject = Subject(name=advice.program, advice=advice)
    page = render(page_data(subject))
    document, plain = Document(page), Document(pages[kind])
    assert {tag for tag, _ in document.tags} <= {tag for tag, _ in plain.tags} | {"details", "summary"}
    assert len(document.texts["script"]) == 2
    assert len(document.texts["style"]) == 1
    assert {name for _, attrs in document.tags for name in attrs} <= {
        name for _, attrs in plain.tags for name in attrs
    } | {"data-value", "title"}
    assert "&amp;lt;b&amp;gt;" in page
    body = " ".join(document.texts["body"])
    seen = tuple(map(printable, NAMES))
    shown = seen if kind != "prediction" else seen[:1]
    titles = {attrs["title"] for _, attrs in document.tags if "title" in attrs}
    assert [name for name in shown if name not in body and name not in titles] == []
    if kind == "dataset":
        assert set(seen) < set(document.records()["heatmap"]["programs"]), "the script reads the very names"
    if kind == "model":
        assert set(seen) < set(document.texts["title"]), "the tree names every program"


_CODES = (0x1B, 7, 0x9B, 0x85, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
HIDDEN = "".join(map(chr, _CODES))


@pytest.mark.parametrize("kind", ["dataset", "model", "prediction"])
def test_what_cannot_be_seen_is_shown_as_an_escape(kind: str) -> None:
    names = tuple(f"before{letter}behind" for letter in HIDDEN)[:14]
    hostile = with_hostile_names(planted_dataset(15), names)
    model = train(hostile, OPTIONS)
    if kind == "dataset":
        subject = Subject(name=HIDDEN, dataset=hostile)
    elif kind == "model":
        subject = Subject(name=HIDDEN, model=model, origin=HIDDEN)
    else:
        asked = msgspec.structs.replace(hostile.programs[1], command=("./app", HIDDEN))
        hostile = msgspec.structs.replace(hostile, programs=(hostile.programs[0], asked, *hostile.programs[2:]))
        advice = advised_on(hostile, asked, model)
        subject = Subject(name=HIDDEN, advice=advice)
    page = render(page_data(subject))
    assert [letter for letter in page if letter in HIDDEN] == []
    assert r"before\u202abehind" in page or r"\342\200\252" in page
    if kind == "prediction":
        copied = [text for text in Document(page).texts["pre"] if text.startswith("numapredict run")]
        script = f'set -- {copied[0].partition(" -- ")[2]}; printf %s "$2"'
        assert subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout == HIDDEN.encode()


def test_what_cannot_be_seen_in_the_label_of_a_mapping_is_shown_as_an_escape(advice: Advice) -> None:
    hostile = AnyMapping("evil\u202e\x1b[31m")
    near = msgspec.structs.replace(advice.explanation, close=(Close(hostile, 2.0, "pages"),))
    changed = msgspec.structs.replace(advice, explanation=near)
    read = read_answer(msgspec.json.encode(changed, enc_hook=to_label), "p.json")
    page = render(page_data(Subject(name="p", advice=read)))
    assert [letter for letter in page if letter in HIDDEN] == []
    assert page.count(printable(hostile.label)) == 1


def test_a_page_for_120_programs_is_small(tmp_path: Path) -> None:
    data = page_data(Subject(name="planted", dataset=planted_dataset(120, subset="full")))
    size_bytes = write_page(data, tmp_path / "new" / "page.html")
    assert size_bytes == (tmp_path / "new" / "page.html").stat().st_size < 5e6


@pytest.mark.parametrize("name", shipped_models())
def test_the_page_of_a_shipped_model_says_how_good_it_is(name: str) -> None:
    model = named_model(name).model
    page = render(page_data(Subject(name=name, model=model, origin="shipped")))
    assert "Not known" not in page
    assert f"numapredict evaluate {name}" in page
    assert Document(page).table("Speedups over the default of held-out")[1][0] == "search of 4 runs"
    other = msgspec.structs.replace(model, dataset_created="2000-01-01")
    assert "Not known" in render(page_data(Subject(name=name, model=other, origin="m.json")))


def test_held_out_figures_come_from_an_evaluation_alone(
    tmp_path: Path, dataset: Dataset, model: Model, pages: dict[str, str]
) -> None:
    assert "Not known" in pages["model"]
    assert "gain captured" not in pages["model"]
    evaluation = evaluate_held_out(dataset, OPTIONS)
    path = tmp_path / "evaluation.json"
    path.write_bytes(msgspec.json.encode(together([evaluation]), enc_hook=to_label))
    subject = Subject(name="planted", model=model, origin="m.json")
    page = render(page_data(subject, evaluation=path))
    assert "Not known" not in page
    assert evaluation.gain_captured is not None
    rows = [text for text in Document(page).texts["tr"] if text.startswith("search of 4 runs")]
    assert len(rows) == 1
    assert f"{evaluation.speedup.geometric:.2f}x" in rows[0]
    assert f"{evaluation.gain_captured:.2f}" in rows[0]
    head, ours, *others, possible = Document(page).table("Speedups over the default of held-out")
    scores = dict(zip(head, ours, strict=True))
    assert evaluation.worst_speedup < evaluation.speedup.geometric < evaluation.speedup.arithmetic
    assert scores["worst"] == f"{evaluation.worst_speedup:.2f}x"
    assert scores["geometric mean"] == f"{evaluation.speedup.geometric:.2f}x"
    assert scores["arithmetic mean"] == f"{evaluation.speedup.arithmetic:.2f}x"
    assert scores["slower than the default"] == f"{evaluation.slower_than_default:.1%}"
    assert scores["regret: median"] == f"{evaluation.regret.median:.2f}"
    assert scores["95%"] == f"{evaluation.regret.p95:.2f}"
    assert [row[0] for row in others] == list(evaluation.baselines)
    assert [row[head.index("worst")] for row in others] == [
        f"{each.worst_speedup:.2f}x" for each in evaluation.baselines.values()
    ]
    assert possible[1:3] == [
        f"{mean:.2f}x" for mean in (evaluation.oracle_speedup.geometric, evaluation.oracle_speedup.arithmetic)
    ]
    other = msgspec.structs.replace(subject, model=msgspec.structs.replace(model, machine="another"))
    with pytest.raises(InvalidInputError, match="planted-4x8"):
        page_data(other, evaluation=path)
    options = msgspec.structs.replace(model, options=TrainingOptions(n_clusters=4))
    with pytest.raises(InvalidInputError, match="options"):
        page_data(msgspec.structs.replace(subject, model=options), evaluation=path)
    path.write_text("{}")
    with pytest.raises(InvalidInputError, match="evaluate"):
        page_data(subject, evaluation=path)


def test_other_peoples_mappings_have_a_page_too(dataset: Dataset) -> None:
    def named(label: str) -> AnyMapping:
        return AnyMapping(f"plan <b>{label}</b>")

    foreign = msgspec.structs.replace(
        dataset,
        topology=None,
        default=named("32x4-contiguous-first-touch"),
        measurements=tuple(msgspec.structs.replace(m, mapping=named(m.mapping.label)) for m in dataset.measurements),
    )
    document = Document(render(page_data(Subject(name="foreign", dataset=foreign))))
    assert not [tag for tag, _ in document.tags if tag == "b"]
    assert set(document.records()["heatmap"]["choices"]) == {None}
    assert "The machine" not in document.texts["nav"][0]


@pytest.mark.parametrize("kind", ["dataset", "model"])
def test_mappings_that_were_left_out_are_named(dataset: Dataset, kind: str) -> None:
    gone = dataset.measurements[-1].mapping
    few = tuple(m for m in dataset.measurements if m.mapping != gone or m.program == dataset.programs[0].name)
    lacking = msgspec.structs.replace(dataset, measurements=few)
    named = {"dataset": lacking} if kind == "dataset" else {"model": train(lacking, OPTIONS)}
    document = Document(render(page_data(Subject(name="planted", **named))))
    said = [text for text in document.texts["details"] if "1 mappings left out" in text]
    assert len(said) == 1
    assert gone.label in said[0]


def test_one_program_has_a_page() -> None:
    document = Document(render(page_data(Subject(name="one", dataset=planted_dataset(1)))))
    assert document.records()["heatmap"]["merges"] == []


def test_a_predictions_commands_and_findings_are_there(pages: dict[str, str], advice: Advice) -> None:
    body = Document(pages["prediction"]).texts["body"][0]
    assert advice.explanation.findings
    assert all(finding.text[1:] in body for finding in advice.explanation.findings)
    assert advice.command in Document(pages["prediction"]).texts["pre"][0]
    assert len(Document(pages["prediction"]).texts["article"]) == len(advice.alternatives) >= 4


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path, dataset: Dataset) -> None:
    data = page_data(Subject(name="planted", dataset=dataset))
    with pytest.raises(UsageError, match=r"page\.png: .*\.html"):
        write_page(data, tmp_path / "page.png")
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match="another folder"):
        write_page(data, tmp_path / "file" / "page.html")


def test_a_shipped_like_folder_round_trips(tmp_path: Path, dataset: Dataset, pages: dict[str, str]) -> None:
    write_dataset(dataset, tmp_path / "planted")
    assert render(page_data(open_subject(str(tmp_path / "planted")))) == pages["dataset"]


def test_a_models_clusters_are_reported_in_tables(pages: dict[str, str], model: Model) -> None:
    document = Document(pages["model"])
    _, *rows = document.table("Clusters, by the model's own numbers")
    assert [row[0] for row in rows] == [str(cluster.id) for cluster in model.clusters]
    spread = 0
    for cluster, row in zip(model.clusters, rows, strict=True):
        speed = cluster.ranked[0].expected_speedup
        reported = f"{speed.median:.2f}x ({speed.low:.2f}x to {speed.high:.2f}x)"
        assert row[1:] == [str(len(cluster.members)), cluster.centroid, cluster.ranked[0].mapping.label, reported]
        head, *ranked = document.table(f"Mappings ranked first in cluster {cluster.id} ")
        assert head == ["rank", "mapping", "median", "least", "greatest"]
        for each, cells in zip(cluster.ranked, ranked, strict=False):
            speeds = each.expected_speedup
            numbers = [f"{speed:.2f}x" for speed in (speeds.median, speeds.low, speeds.high)]
            assert cells[1:] == [each.mapping.label, *numbers]
            spread += len(set(numbers)) == 3
        _, *members = document.table(f"Members of cluster {cluster.id},")
        assert [(cells[1], cells[2]) for cells in members] == [
            (m.best.label, f"{m.best_speedup:.2f}x") for m in cluster.members
        ]
        assert [cells[0].startswith(m.name) for cells, m in zip(members, cluster.members, strict=True)] == [True] * len(
            members
        )
    assert spread > 5, "else the columns could be mistaken for each other"
    _, *probes = document.table("The two probe runs")
    assert [row[1] for row in probes] == [probe.mapping.label for probe in model.probes]


def test_long_names_are_cut_where_they_stand_in_rows_and_whole_elsewhere(dataset: Dataset) -> None:
    old, new = dataset.programs[0].name, "".join(chr(0x4E00 + at) for at in range(300))
    longer = msgspec.structs.replace(
        dataset,
        programs=(msgspec.structs.replace(dataset.programs[0], name=new), *dataset.programs[1:]),
        measurements=tuple(
            msgspec.structs.replace(m, program=new) if m.program == old else m for m in dataset.measurements
        ),
    )
    document = Document(render(page_data(Subject(name="planted", dataset=longer, model=train(longer, OPTIONS)))))
    assert any(new in text for text in document.texts["option"]), "the choice of a program names it whole"
    assert {attrs.get("title") for tag, attrs in document.tags if tag == "bdi"} >= {new}
    for caption in ("Programs, their fastest", "Clusters, by the model's"):
        assert max(len(cell) for row in document.table(caption) for cell in row) < 120
    members = [document.table(f"Members of cluster {number},") for number in range(5)]
    assert any(new in cell for rows in members for row in rows for cell in row), "the details name it whole"


def test_a_prediction_of_a_very_long_command_has_a_heading_of_a_line(advice: Advice) -> None:
    program = "./app " + "x" * 5000
    command = f"numapredict run --mapping {advice.mapping} -- {program}"
    long = msgspec.structs.replace(advice, program=program, command=command)
    document = Document(render(page_data(Subject(name=program, advice=long))))
    assert len(document.texts["h1"][0].strip()) == len(document.texts["title"][0].split(" · ")[0]) == 120
    assert document.texts["pre"][0] == command, "what is run is never cut"
    assert any(program in text for text in document.texts["details"]), "and the question can be read whole"
