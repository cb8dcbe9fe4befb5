"""Mappings and their labels."""

import copy
import pickle
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import (
    THREAD_POLICIES,
    AnyMapping,
    Mapping,
    applicable,
    from_label,
    mapping_named,
    order_of,
    parse_label,
    problem_of,
    to_label,
)
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.native.errors import InvalidMappingError


def mappings(most: int = 99_999) -> st.SearchStrategy[Mapping]:
    """Return mappings that mean something on some machine."""
    counts = st.integers(1, most)
    anything = st.builds(
        Mapping,
        *(counts, counts, st.sampled_from(THREAD_POLICIES), counts, st.sampled_from(PAGE_POLICIES)),
        *(st.integers(1, min(most, 99)), st.one_of(st.just(0), counts)),
    )

    def repaired(mapping: Mapping) -> Mapping:
        threads, nodes = max(mapping.threads, mapping.thread_nodes), min(mapping.threads, mapping.thread_nodes)
        pages = {"bind": 1, "remote": 1, "first-touch": nodes, "locality": nodes}
        page_nodes = pages.get(mapping.page_policy, mapping.page_nodes)
        thread_l3s = min(max(mapping.thread_l3s, nodes), threads) if mapping.thread_l3s else 0
        return mapping.replaced(threads=threads, thread_nodes=nodes, page_nodes=page_nodes, thread_l3s=thread_l3s)

    return anything.map(repaired)


@given(mappings())
def test_a_label_names_its_mapping(mapping: Mapping) -> None:
    assert problem_of(mapping) == ""
    assert parse_label(mapping.label) == mapping


@given(mappings(most=6), mappings(most=6))
def test_different_mappings_have_different_labels(one: Mapping, other: Mapping) -> None:
    assert (one.label == other.label) == (one == other)


@given(mappings())
def test_a_mapping_equals_any_other_of_its_label_and_no_text(mapping: Mapping) -> None:
    imported = AnyMapping(mapping.label)
    assert imported == mapping == imported
    assert {imported: "found"}[mapping] == "found"
    assert mapping != mapping.label
    assert imported != mapping.label


class Record(msgspec.Struct):
    """What a file may hold."""

    mapping: AnyMapping
    others: tuple[AnyMapping, ...] = ()
    default: AnyMapping | None = None


def read(data: bytes) -> Record:
    return msgspec.json.decode(data, type=Record, dec_hook=from_label)


@given(mappings(), mappings(), st.text())
def test_in_json_a_mapping_is_its_label(one: Mapping, other: Mapping, foreign: str) -> None:
    record = Record(one, (other, mapping_named(foreign)), one)
    data = msgspec.json.encode(record, enc_hook=to_label)
    assert msgspec.json.decode(data) == {"mapping": one.label, "others": [other.label, foreign], "default": one.label}
    found = read(data)
    assert found == record
    assert (type(found.mapping), found.mapping, found.default) == (Mapping, one, one)


@pytest.mark.parametrize("value", ["5", "null", "[]", "{}", "true"])
def test_what_is_no_text_is_refused_with_its_place(value: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"Expected `str`, got `\w+` - at `\$\.others\[0\]`"):
        read(f'{{"mapping": "x", "others": [{value}]}}'.encode())


def test_only_mappings_have_a_label() -> None:
    with pytest.raises(NotImplementedError, match="object"):
        msgspec.json.encode(object(), enc_hook=to_label)


def test_only_a_mapping_of_our_grammar_can_be_applied() -> None:
    foreign = mapping_named("numactl -i all")
    assert type(foreign) is AnyMapping
    with pytest.raises(InvalidMappingError, match="'numactl -i all' is not a mapping's label"):
        applicable(foreign)


@given(mappings(most=6), mappings(most=6))
def test_mappings_stand_in_the_order_of_their_size_then_of_their_choices(one: Mapping, other: Mapping) -> None:
    sizes = [(m.threads, m.thread_nodes, m.threads_per_core, m.thread_l3s) for m in (one, other)]
    smaller = one.choices < other.choices if sizes[0] == sizes[1] else sizes[0] < sizes[1]
    assert (order_of(one) < order_of(other)) == smaller
    assert max(order_of(one), order_of(other)) < order_of(AnyMapping("0"))


@pytest.mark.parametrize(
    ("label", "mapping"),
    [
        ("16x2-contiguous-locality", Mapping(16, 2, "contiguous", 2, "locality")),
        ("32x4-scatter-interleave", Mapping(32, 4, "scatter", 4, "interleave")),
        ("8x2-scatter-balance@4", Mapping(8, 2, "scatter", 4, "balance")),
        ("32x4-contiguous-bind@1", Mapping(32, 4, "contiguous", 1, "bind")),
        ("8x1-contiguous-remote", Mapping(8, 1, "contiguous", 1, "remote")),
        ("4x4-scatter-first-touch", Mapping(4, 4, "scatter", 4, "first-touch")),
        ("64x2-contiguous-locality-smt2", Mapping(64, 2, "contiguous", 2, "locality", 2)),
        ("8x1-scatter-bind-4l3", Mapping(8, 1, "scatter", 1, "bind", 1, 4)),
        ("32x2-contiguous-bind@1-8l3-smt2", Mapping(32, 2, "contiguous", 1, "bind", 2, 8)),
        ("32x2-contiguous-bind@1-smt2", Mapping(32, 2, "contiguous", 1, "bind", 2)),
    ],
)
def test_labels_as_the_design_writes_them(label: str, mapping: Mapping) -> None:
    assert parse_label(label) == mapping
    assert mapping.label == label


def test_page_nodes_may_be_written_where_they_go_without_saying() -> None:
    assert parse_label("8x1-contiguous-bind@1").label == "8x1-contiguous-bind"


@pytest.mark.parametrize(
    ("label", "what"),
    [
        ("", "is not a mapping's label"),
        ("16", "is not a mapping's label"),
        ("16x2", "is not a mapping's label"),
        ("16x2-contiguous", "is not a mapping's label"),
        ("16x2-contiguous-", "is not a mapping's label"),
        ("16x2-contiguous-locality@", "is not a mapping's label"),
        ("16x2-contiguous-locality@0", "is not a mapping's label"),
        ("0x2-contiguous-locality", "is not a mapping's label"),
        ("16x0-contiguous-locality", "is not a mapping's label"),
        ("-4x2-contiguous-locality", "is not a mapping's label"),
        ("016x2-contiguous-locality", "is not a mapping's label"),
        ("999999x2-contiguous-locality", "is not a mapping's label"),
        (" 16x2-contiguous-locality", "is not a mapping's label"),
        ("16x2-contiguous-locality\n", "is not a mapping's label"),
        ("16X2-CONTIGUOUS-LOCALITY", "is not a mapping's label"),
        ("16x2-contiguous-locality-smt0", "is not a mapping's label"),
        ("16x2-contiguous-locality-smt1", "is not a mapping's label"),
        ("16x2-contiguous-locality-smt100", "is not a mapping's label"),
        ("16x2-contiguous-locality-0l3", "is not a mapping's label"),
        ("16x2-contiguous-locality-smt2-4l3", "is not a mapping's label"),
        ("16x2-contiguous-locality-1l3", "16 threads on 2 nodes can use 2 to 16 L3 caches, not 1"),
        ("16x2-contiguous-locality-17l3", "16 threads on 2 nodes can use 2 to 16 L3 caches, not 17"),
        ("16x2-contiguous-bind-smt2@1", "is not a mapping's label"),
        ("٣x2-contiguous-locality", "is not a mapping's label"),
        ("x" * 10_000, "is not a mapping's label"),
        ("16x2-compact-locality", "thread policy 'compact' is not one of contiguous, scatter"),
        ("16x2-contiguous-locality-smt", "page policy 'locality-smt' is not one of first-touch, locality"),
        ("16x2-contiguous-firsttouch", "page policy 'firsttouch' is not one of first-touch, locality"),
        ("2x4-contiguous-locality", "2 threads cannot occupy 4 nodes"),
        ("16x2-contiguous-bind", "bind puts all pages on one node; end the label with @1"),
        ("16x2-contiguous-remote@2", "remote puts all pages on one node"),
        ("16x2-contiguous-locality@4", "locality needs the pages on the 2 thread nodes"),
        ("16x2-contiguous-first-touch@1", "first-touch needs the pages on the 2 thread nodes"),
    ],
)
def test_malformed_labels_get_one_clear_line(label: str, what: str) -> None:
    with pytest.raises(InvalidMappingError) as error:
        parse_label(label)
    assert what in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250


@given(st.text(max_size=40))
def test_any_text_is_a_label_or_an_error(text: str) -> None:
    try:
        mapping = parse_label(text)
    except InvalidMappingError:
        return
    assert parse_label(mapping.label) == mapping


def test_counts_below_one_are_a_problem() -> None:
    assert "at least 1" in problem_of(Mapping(0, 1, "contiguous", 1, "bind"))
    assert "at least 1" in problem_of(Mapping(1, 1, "contiguous", 0, "balance"))
    assert "at least 1" in problem_of(Mapping(1, 1, "contiguous", 1, "balance", 0))


READERS = {
    "collect/binding.py": "typed",
    "collect/campaign/completion.py": "typed",
    "collect/data/foreign_table.py": "an imported table",
    "collect/data/journal.py": "a journal",
    "collect/data/measurement_table.py": "a dataset",
    "collect/data/table_import.py": "typed",
    "collect/fidelity/bench.py": "a published table",
    "collect/mapping.py": "the grammar",
    "collect/placing/plan_file.py": "a plan",
    "predictor/advising/last_advice.py": "the last advice",
    "predictor/api/dataset.py": "named from Python",
    "predictor/evaluation/evaluation_options.py": "typed",
    "predictor/regions/application_plan.py": "an answer on regions",
    "predictor/regions/planning.py": "an answer on regions",
    "predictor/regions/session.py": "the plan of an answer on regions",
    "predictor/searching/gains_file.py": "known gains",
    "reports/characterisation/tables.py": "a characterisation",
    "reports/parts/replayed_answer.py": "an answer on regions",
    "reports/parts/replays_consistency.py": "an answer on regions",
    "reports/region_gains.py": "an answer on regions",
}
"""The files that read labels, and where the labels are from."""


def test_a_mapping_cannot_be_changed_since_all_who_read_its_label_share_it() -> None:
    one = parse_label("16x2-contiguous-locality")
    with pytest.raises(AttributeError, match="shared"):
        one.threads = 8  # type: ignore[misc]
    assert parse_label(one.label).threads == 16


@pytest.mark.parametrize("label", ["16x2-contiguous-locality", "their own"])
def test_a_mapping_goes_to_another_process_and_comes_back(label: str) -> None:
    sent = pickle.loads(pickle.dumps(mapping_named(label)))  # noqa: S301 - ours
    assert (type(sent), sent) == (type(mapping_named(label)), mapping_named(label))
    assert order_of(copy.deepcopy(sent)) == order_of(sent)


def test_only_files_at_the_edge_read_labels() -> None:
    root = Path(__file__).parents[3]
    files = [path for folder in ("collect", "predictor", "reports") for path in (root / folder).rglob("*.py")]
    read = re.compile(r"\b(parse_label|mapping_named)\b(?!`)")
    found = [path for path in files if read.search(path.read_text(encoding="utf-8"))]
    assert {path.relative_to(root).as_posix() for path in found} == READERS.keys()


def test_only_one_file_writes_labels() -> None:
    root = Path(__file__).parents[3]
    files = [path for folder in ("collect", "predictor", "reports") for path in (root / folder).rglob("*.py")]
    written = re.compile(r"@\{[^}]*nodes\}|\}x\{[^}]*nodes\}-")
    assert [path.name for path in files if written.search(path.read_text(encoding="utf-8"))] == ["mapping.py"]
