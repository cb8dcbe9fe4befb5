"""The page of a search's answer, read as the HTML standard has it; its parts have unit tests of their own."""

import msgspec

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.predictor.advising.searched import Searched
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render
from numapredict.reports.parts.subject import Subject
from tests.html_document import Document
from tests.searches import DEFAULT, LOCAL, Computer, Described, Noisy, answered, times

SEARCHED = answered(Described(times(8.0, local=4.0)), baseline=DEFAULT)
HIDDEN = "".join(map(chr, (0x1B, 7, 0x9B, 0x200B, 0x202A, 0x202E, 0x2066)))


def searched_page(found: Searched) -> str:
    return render(page_data(Subject(name=found.program, searched=found)))


def sections(page: str) -> list[str | None]:
    return [attrs["id"] for tag, attrs in Document(page).tags if tag == "section"]


def test_the_page_of_a_winning_search_has_all_that_the_terminal_says() -> None:
    later = {LOCAL: [3.0, 4.0, 4.0, 4.0], AS_IT_IS: [8.0, 8.0, 8.8, 8.4]}
    found = answered(Noisy(times(8.0, one=-1.0), later), runs=4)
    found = msgspec.structs.replace(
        found,
        warnings=("it is <slow>",),
        own_threads="the program sets 32",
        kept_runs=1,
        kept_since="2026-01-02T03:04:05+00:00",
        expected_runs=500,
        exit_code=26,
        trace_share=0.75,
    )
    page = searched_page(found)
    document = Document(page)
    assert sections(page) == ["searched", "runs", "confirming", "further", "placed", "alternatives", "about"]
    body = " ".join(document.texts["body"][0].split())
    for said in (
        "The program sets 32.",
        "32 threads on 4 nodes, consecutive threads together; each page on the node whose threads use it most",
        "2.10x over the program as it is now, for the whole run: 2.00x to 2.20x in 3 further runs of each, in turn",
        "it is <slow>",
        "Kept: the first run, made from 2026-01-02 03:04 UTC on; --fresh makes all runs anew.",
        "each further one was chosen by what 4 programs on planted gained.",
        "2.10x on average (geometric mean): surely faster (measured).",
        "Exit code 26",
        "Trace saw regions with 75% of the native region time",
        "Baseline the program as it is now: speedups are over it",
        "Default 32x4-contiguous-first-touch: what datasets count speedups from",
        "Chance that it is faster",
        "500 times, by --for",
    ):
        assert said in body or said.replace(" ", "") in body.replace(" ", ""), said
    assert document.texts["pre"][0] == found.command
    assert "modelled" not in body
    head, *runs = document.table("The runs in their order")
    assert head == ["run", "mapping", "time", "speedup", "best so far"]
    assert runs == [
        ["1", "as it is now(made earlier)", "8.00\u00a0s", "1.00x", "1.00x"],
        ["2", f"{LOCAL}(advised)", "3.00\u00a0s", "2.67x", "2.67x"],
        ["3", "32x4-contiguous-interleaveslower than the best", "ended after 3.10\u00a0s", "", "2.67x"],
        ["4", "8x1-contiguous-bindit crashed", "failed", "", "2.67x"],
    ]
    _, *rounds = document.table("Runs in turn of the program as it is now")
    assert rounds == [
        ["1", "8.00\u00a0s", "4.00\u00a0s", "2.00x"],
        ["2", "8.80\u00a0s", "4.00\u00a0s", "2.20x"],
        ["3", "8.40\u00a0s", "4.00\u00a0s", "2.10x"],
    ]
    assert len(document.texts["article"]) == len(found.alternatives) == 5
    assert found.alternatives[0].cautions
    assert all(caution in body for each in found.alternatives for caution in each.cautions)
    shown = [attrs["class"] for tag, attrs in document.tags if tag == "g"]
    assert shown == ["done", "done", "ended", "failed"]


def test_the_page_of_a_kept_baseline_has_its_command_and_no_drawing() -> None:
    kept = answered(Noisy(times(8.0), {LOCAL: [6.0, 8.1, 7.9, 8.0]}))
    page = searched_page(kept)
    assert sections(page) == ["searched", "runs", "confirming", "further", "about"]
    body = " ".join(Document(page).texts["body"][0].split())
    assert "Keep what you have No mapping that ran was surely faster." in body
    assert "32x4-contiguous-locality was the fastest, but run again it gave 1.00x" in body
    assert Document(page).texts["pre"] == [kept.command]
    alone = answered(Computer(times(8.0)), runs=1, expected_runs=1)
    page = searched_page(alone)
    assert sections(page) == ["searched", "runs", "further", "about"]
    assert "No mapping was tried, for that would cost more than it should save in 1 run" in page
    assert "<circle" not in page
    assert "No mapping is left to run." in searched_page(msgspec.structs.replace(kept, next=None))


def test_a_search_on_a_described_machine_is_drawn_on_its_nodes_and_called_modelled() -> None:
    page = searched_page(SEARCHED)
    assert f"{LOCAL} on sandybridge-4x8; filled squares are cores" in page
    assert "8 cores, threads 24 to 31" in page
    assert "2.50x</strong> over 32x4-contiguous-first-touch, for the whole run" in page.replace("\u00a0", " ")
    assert "(measured)" not in page
    document = Document(page)
    captions = document.texts["caption"] + document.texts["figcaption"]
    plain = [text for text in captions if not text.rstrip().endswith("(modelled)")]
    assert all(text.startswith((f"{LOCAL} on", "Read latency", "Read bandwidth")) for text in plain), plain
    assert len(captions) - len(plain) == 3


def test_texts_of_a_search_are_text_wherever_they_stand() -> None:
    evil, hidden = "<b>&amp;</b><script>", HIDDEN
    for word in (evil, hidden):
        changed = msgspec.structs.replace(
            SEARCHED,
            program=word,
            machine=word,
            knows=word,
            own_threads=word,
            warnings=(word,),
            kept_runs=1,
            kept_since=word,
            runs=(SEARCHED.runs[0], msgspec.structs.replace(SEARCHED.runs[1], message=word), *SEARCHED.runs[2:]),
            alternatives=tuple(
                msgspec.structs.replace(each, note=word, cautions=(word,), mapping=AnyMapping(word), exact=False)
                for each in SEARCHED.alternatives
            ),
        )
        page = searched_page(changed)
        assert not [tag for tag, _ in Document(page).tags if tag == "b"]
        assert len(Document(page).texts["script"]) == 2
        assert [letter for letter in page if letter in HIDDEN] == []
