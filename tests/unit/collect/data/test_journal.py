import errno
import json
import math
import os
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.journal import (
    Finished,
    Header,
    Journal,
    Record,
    create_journal,
    header_conflict,
    read_journal,
)
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition
from numapredict.collect.space import full_space
from numapredict.native.errors import InvalidInputError, UnwritableError
from tests.samples import dataset_of, failed_of, measurement_of, programs_of, topology_of

TOPOLOGY = topology_of()
SPACE = full_space(TOPOLOGY)
HEADER = Header(machine=TOPOLOGY.name, modelled=True, made_by="me", created="now", topology=TOPOLOGY)
PROGRAM = programs_of("p")[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def runs(count: int) -> list[Measurement]:
    return [measurement_of("p", mapping, TOPOLOGY) for mapping in SPACE[:count]]


def fill(path: Path, measurements: list[Measurement]) -> bytes:
    with Journal(path, HEADER) as journal:
        journal.introduce(PROGRAM)
        for number, measurement in enumerate(measurements):
            journal.finished(measurement, float(number))
    return path.read_bytes()


def test_what_is_appended_is_read(path: Path) -> None:
    measurements = [*runs(3), failed_of("p", SPACE[4], TOPOLOGY)]
    fill(path, measurements)
    assert read_journal(path) == Record(HEADER, (PROGRAM,), tuple(measurements), (0.0, 1.0, 2.0, 3.0))


def test_no_journal_is_an_empty_record(path: Path) -> None:
    assert read_journal(path) == Record()


def test_each_line_is_an_object_with_its_kind_and_label(path: Path) -> None:
    fill(path, runs(1))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["header", "program", "finished"]
    assert lines[0]["schema"] == 1
    assert lines[2]["mapping"] == SPACE[0].label


def test_a_run_is_on_the_disk_before_the_next(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    with Journal(path, HEADER) as journal:
        journal.introduce(PROGRAM)
        for measurement in runs(2):
            journal.finished(measurement, 1.0)
            assert synced[-1] == path.stat().st_size


def test_a_later_line_of_a_pair_counts(path: Path) -> None:
    fill(path, [failed_of("p", SPACE[0], TOPOLOGY)])
    fill(path, runs(1))
    assert read_journal(path).measurements == tuple(runs(1))


def test_cut_at_any_byte_it_keeps_all_whole_lines_and_goes_on(path: Path) -> None:
    data = fill(path, runs(3))
    ends = [index + 1 for index, byte in enumerate(data) if byte == ord("\n")]
    for size in range(0, len(data) + 1, 7):
        path.write_bytes(data[:size])
        whole = sum(end <= size for end in ends)
        assert len(read_journal(path).measurements) == max(0, whole - 2)
        fill(path, runs(3)[max(0, whole - 2) :])
        assert read_journal(path).measurements == tuple(runs(3))
        assert path.read_bytes().count(b"\n") == 5
    path.write_bytes(data[:-1] + b"\0\0\0")
    assert len(read_journal(path).measurements) == 2


def test_a_last_line_torn_inside_is_cut_off(path: Path) -> None:
    data = fill(path, runs(2))
    path.write_bytes(data[:-30] + b"\0" * 29 + b"\n")
    assert read_journal(path).measurements == tuple(runs(1))
    fill(path, runs(2)[1:])
    assert path.read_bytes().count(b"\0") == 0
    assert read_journal(path).measurements == tuple(runs(2))


def test_a_corrupt_line_in_the_middle_is_named(path: Path) -> None:
    lines = fill(path, runs(3)).splitlines(keepends=True)
    for number, bad, expected in [
        (4, b"garbage\n", "not a JSON object"),
        (4, b"\xff\xfe\n", "line 4"),
        (5, b'{"kind":"finished"}\n', "missing required field"),
        (5, b'{"kind":"other"}\n', "other"),
        (3, lines[2].replace(SPACE[0].label.encode(), b"4y4"), "mapping: '4y4'"),
        (3, lines[2].replace(b'"program":"p"', b'"program":"q"'), "'q' was not introduced"),
        (3, lines[0], "header"),
        (1, lines[0].replace(b'"schema":1', b'"schema":9'), "schema is 9"),
        (1, lines[0].replace(b"20.0", b"-2.0"), "distances"),
        (1, lines[1], "header is missing"),
    ]:
        path.write_bytes(b"".join([*lines[: number - 1], bad, *lines[number:]]))
        with pytest.raises(InvalidInputError, match=expected) as error:
            read_journal(path)
        assert f"{path}, line {number}: " in str(error.value)
        assert "\n" not in str(error.value)
        with pytest.raises(InvalidInputError, match=expected):
            Journal(path, HEADER)
    path.write_bytes(b"".join(lines))
    assert read_journal(path).measurements == tuple(runs(3))


def test_two_campaigns_do_not_write_one_journal(path: Path) -> None:
    with Journal(path, HEADER), pytest.raises(InvalidInputError, match="in use by another campaign"):
        Journal(path, HEADER)
    Journal(path, HEADER).__exit__(None, None, None)


def test_another_machine_is_refused(path: Path) -> None:
    fill(path, runs(1))
    other = topology_of((4, 2), TOPOLOGY.name)
    for header, expected in [
        (msgspec.structs.replace(HEADER, machine="b"), "on machine 'sample-2x4', not on 'b'"),
        (msgspec.structs.replace(HEADER, modelled=False), "figures are modelled"),
        (msgspec.structs.replace(HEADER, topology=other), "another topology"),
    ]:
        assert expected in header_conflict(HEADER, header)
        with pytest.raises(InvalidInputError, match=expected) as error:
            Journal(path, header)
        assert "\n" not in str(error.value)
    later = msgspec.structs.replace(HEADER, made_by="later", created="tomorrow")
    with Journal(path, later) as journal:
        assert journal.record.header == HEADER


def test_a_program_is_introduced_once_and_keeps_its_command(path: Path) -> None:
    with Journal(path, HEADER) as journal:
        journal.introduce(PROGRAM)
        journal.introduce(PROGRAM)
        with pytest.raises(InvalidInputError, match="another command"):
            journal.introduce(msgspec.structs.replace(PROGRAM, command=("/bin/other",)))
        better = msgspec.structs.replace(PROGRAM, summary="now with words")
        journal.introduce(better)
    assert read_journal(path).programs == (better,)
    assert path.read_bytes().count(b'"kind":"program"') == 2


def test_a_journal_made_from_a_record_holds_it_and_replaces_none(path: Path) -> None:
    dataset = dataset_of()
    record = Record(HEADER, dataset.programs, dataset.measurements, (1.0,) * len(dataset.measurements))
    create_journal(path, record)
    assert read_journal(path) == record
    create_journal(path, Record(HEADER))
    assert read_journal(path) == record
    assert os.listdir(path.parent) == [path.name]


def test_unusable_places_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    inside = tmp_path / "file" / "journal.jsonl"
    with pytest.raises(InvalidInputError, match="Not a directory"):
        read_journal(inside)
    for call in (lambda path: Journal(path, HEADER), lambda path: create_journal(path, Record(HEADER))):
        with pytest.raises(UnwritableError, match="Not a directory"):
            call(inside)
    with pytest.raises(UnwritableError, match="Is a directory"):
        Journal(tmp_path, HEADER)


def test_a_line_holds_any_text() -> None:
    line = Finished(program="a\nb", mapping=SPACE[0].label, status="crashed", took_s=1.0, message="\n\u2028")
    assert b"\n" not in msgspec.json.encode(line)


def test_a_line_that_was_not_written_is_taken_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Journal(path, HEADER) as journal:
        journal.introduce(PROGRAM)
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(UnwritableError, match="No space left on device; free some space"):
            journal.finished(runs(1)[0], 1.0)
        monkeypatch.undo()
        journal.finished(runs(1)[0], 1.0)
    assert read_journal(path).measurements == tuple(runs(1))


def test_a_name_that_is_no_text_is_said(path: Path) -> None:
    with Journal(path, HEADER) as journal:
        with pytest.raises(InvalidInputError, match="is not UTF-8 text; rename it"):
            journal.introduce(msgspec.structs.replace(PROGRAM, name="caf\udce9"))
        journal.introduce(PROGRAM)
    assert read_journal(path).programs == (PROGRAM,)


BROKEN = [
    msgspec.structs.replace(runs(1)[0], repetitions=(Repetition(value), Repetition(1.0)))
    for value in (math.inf, -math.inf, math.nan, -1.0, 0.0, 1e308)
] + [
    msgspec.structs.replace(runs(1)[0], repetitions=(Repetition(1.0, math.nan),)),
    msgspec.structs.replace(
        runs(1)[0],
        repetitions=(Repetition(1.0, 1.0, Counters((NodeCounters(1.0, math.inf, 1.0, 1.0),) * len(TOPOLOGY.nodes))),),
    ),
    msgspec.structs.replace(runs(1)[0], repetitions=(Repetition(1.0, sampled_share=math.nan),)),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_figures_that_no_reader_would_take_make_a_failed_run_that_says_so(path: Path, broken: Measurement) -> None:
    good = runs(2)[1]
    fill(path, [broken, good])
    (first, second) = read_journal(path).measurements
    assert (first.status, first.repetitions) == ("crashed", ())
    assert first.message.startswith("its figures make no sense: ")
    assert second == good
    with Journal(path, HEADER) as journal:  # and a campaign goes on
        assert journal.finished(good, 1.0) == good


def test_a_line_that_could_not_be_read_again_is_not_written(path: Path) -> None:
    before = fill(path, runs(1))
    with (
        Journal(path, HEADER) as journal,
        pytest.raises(InvalidInputError, match="a finished line could not be read again"),
    ):
        journal.finished(runs(2)[1], math.inf)
    assert path.read_bytes() == before


def test_what_is_no_file_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    for use in (lambda: read_journal(path), lambda: Journal(path, HEADER)):
        with pytest.raises(InvalidInputError, match="regular file"):
            use()
