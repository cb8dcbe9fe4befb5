"""What is merged is the same, byte for byte, however it was sharded and in whatever order the files are read."""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.collect.campaign.merge import Merged, merged
from numapredict.collect.campaign.shard import JournalName, Shard
from numapredict.collect.campaign.shard_journals import Source
from numapredict.collect.data.dataset import Dataset, write_dataset
from numapredict.collect.data.journal import Header, Record
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError
from tests.samples import dataset_of, failed_of, topology_of

DATASET = dataset_of(programs=5, mappings=7, modelled=False)
HEADER = Header(
    machine=DATASET.machine,
    modelled=False,
    made_by="numapredict collect campaign --size small --shards 4 --shard 2 --into runs",
    created="2024-01-02T00:00:00+00:00",
    environment=(("numapredict", "1.0"), ("kernel", "Linux 6.1"), ("processor", "A CPU")),
    topology=topology_of(),
)


def source_of(
    measurements: Sequence[Measurement],
    file: str = "a",
    header: Header = HEADER,
    shard: Shard | None = None,
    node: str = "n1",
    control_s: float | None = None,
) -> Source:
    names = {m.program for m in measurements}
    programs = tuple(program for program in DATASET.programs if program.name in names)
    name = None if shard is None else JournalName(shard, "00000000", node, "1")
    control = () if control_s is None else (control_of(control_s),)
    record = Record(header, programs, tuple(measurements), (1.0,) * len(measurements))
    return Source(Path(file), header, record, name, control)


def control_of(time_s: float) -> Measurement:
    first = DATASET.measurements[0]
    return msgspec.structs.replace(first, program="control a", repetitions=(Repetition(time_s),))


def only(sources: Sequence[Source], **options: bool) -> Merged:
    (found,) = merged(sources, **options)
    return found


def digest_of(dataset: Dataset, folder: Path) -> str:
    write_dataset(dataset, folder)
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.iterdir()))).hexdigest()


@settings(max_examples=25, deadline=None)
@given(shards=st.integers(1, 9), seed=st.integers(0, 1 << 30), copies=st.integers(0, 10))
def test_the_bytes_are_the_same_however_runs_were_sharded_and_whatever_is_there_twice(
    tmp_path_factory: pytest.TempPathFactory, shards: int, seed: int, copies: int
) -> None:
    random_ = random.Random(seed)  # noqa: S311 - an order, not a secret
    parts: list[list[Measurement]] = [[] for _ in range(shards)]
    for measurement in (*DATASET.measurements, *random_.sample(DATASET.measurements, copies)):
        part = random_.choice(parts)
        if measurement not in part:
            part.append(measurement)
    for part in parts:
        random_.shuffle(part)
    sources = [source_of(part, f"file{number}") for number, part in enumerate(parts)]
    random_.shuffle(sources)
    folder = tmp_path_factory.mktemp("merged")
    whole = digest_of(only([source_of(DATASET.measurements)]).dataset, folder)
    assert digest_of(only(sources).dataset, folder) == whole


def test_it_says_what_was_run_not_who_ran_it_and_every_setting() -> None:
    other = msgspec.structs.replace(
        HEADER,
        made_by="numapredict collect campaign --size small --shards 4 --shard=3 --into=elsewhere",
        created="2024-01-01T00:00:00+00:00",
        environment=(*HEADER.environment, ("governor", "powersave")),
    )
    dataset = only([source_of(DATASET.measurements), source_of((), "b", other)]).dataset
    assert dataset.made_by == "numapredict collect campaign --size small"
    assert dataset.created == other.created
    assert dict(dataset.environment) == {
        "numapredict": "1.0",
        "kernel": "Linux 6.1",
        "processor": "A CPU",
        "governor": "powersave, unknown",
    }


def test_two_results_of_a_pair_are_refused_with_both_files() -> None:
    one = DATASET.measurements[0]
    other = msgspec.structs.replace(one, repetitions=(Repetition(77.0),))
    sources = [source_of([one], "runs/a"), source_of([other], "runs/b")]
    with pytest.raises(
        InvalidInputError, match=r"p0 under .* is in runs/a .* in runs/b \(77 s\): move one of the files"
    ):
        merged(sources)


def test_a_run_that_went_well_counts_before_one_that_failed_and_of_failures_any_is_the_same() -> None:
    well = DATASET.measurements[0]
    failed = failed_of(well.program, well.mapping, topology_of(), modelled=False)
    otherwise = msgspec.structs.replace(failed, message="killed by SIGSEGV")
    for order in ([failed, well], [well, failed]):
        sources = [source_of([m], str(number)) for number, m in enumerate(order)]
        assert only(sources).dataset.measurements == (well,)
    results = {
        only([source_of([m], str(number)) for number, m in enumerate(order)]).dataset.measurements
        for order in ([failed, otherwise], [otherwise, failed])
    }
    assert len(results) == 1


def test_another_machine_is_refused_and_a_dataset_of_its_own_in_a_fleet() -> None:
    other = msgspec.structs.replace(HEADER, environment=(("numapredict", "1.0"), ("kernel", "Linux 6.12")))
    sources = [source_of(DATASET.measurements, "runs/a"), source_of(DATASET.measurements[:9], "runs/b", other)]
    with pytest.raises(
        InvalidInputError, match=r"runs/a and runs/b are of different machines \(processor: A CPU and .*kernel"
    ):
        merged(sources)
    fleet = {each.kind.kernel: each.dataset for each in merged(sources, fleet=True)}
    assert {kernel: len(dataset.measurements) for kernel, dataset in fleet.items()} == {
        "Linux 6.1": 35,
        "Linux 6.12": 9,
    }


def test_a_modelled_and_a_measured_one_are_different_machines() -> None:
    modelled = msgspec.structs.replace(HEADER, modelled=True)
    figures = tuple(msgspec.structs.replace(m, modelled=True) for m in DATASET.measurements)
    with pytest.raises(InvalidInputError, match="modelled: no and yes"):
        merged([source_of(DATASET.measurements), source_of(figures, "b", modelled)])


@pytest.mark.parametrize("fleet", [False, True])
def test_several_versions_are_refused(fleet: bool) -> None:
    newer = msgspec.structs.replace(HEADER, environment=(("numapredict", "1.1"), *HEADER.environment[1:]))
    with pytest.raises(InvalidInputError, match=r"runs/a was made by numapredict 1\.0, runs/b by 1\.1"):
        merged([source_of(DATASET.measurements, "runs/a"), source_of((), "runs/b", newer)], fleet=fleet)


def test_a_name_with_two_commands_is_refused_and_a_folder_makes_none() -> None:
    program = DATASET.programs[0]

    def source(command: tuple[str, ...], file: str) -> Source:
        named = Program(name=program.name, command=command)
        return Source(Path(file), HEADER, Record(HEADER, (named,), (DATASET.measurements[0],), (1.0,)))

    with pytest.raises(InvalidInputError, match="program 'p0' has one command in a and another in b"):
        merged([source(("/bin/p0", "1"), "a"), source(("/bin/p0", "2"), "b")])
    both = [source(("/opt/b/p0", "1"), "a"), source(("/opt/a/p0", "1"), "b")]
    assert only(both).dataset.programs == only(both[::-1]).dataset.programs


def on_nodes(**control_s: float) -> list[Source]:
    """Return sources with a program each, on nodes whose control takes so long."""
    return [
        source_of(DATASET.measurements[7 * number :][:7], node, HEADER, Shard(number, len(control_s)), node, time_s)
        for number, (node, time_s) in enumerate(control_s.items())
    ]


def test_a_node_that_is_out_of_line_is_left_out_with_all_that_it_ran() -> None:
    sources = on_nodes(n1=1.0, n2=1.4, n3=1.01)
    found = only(sources)
    assert [each.node for each in found.left_out] == ["n2"]
    assert {m.program for m in found.dataset.measurements} == {"p0", "p2"}
    assert [program.name for program in found.dataset.programs] == ["p0", "p2"]
    kept = only(sources, keep_nodes=True)
    assert kept.left_out == ()
    assert {m.program for m in kept.dataset.measurements} == {"p0", "p1", "p2"}


def test_a_nodes_starts_are_judged_together() -> None:
    again = source_of((), "n1 again", HEADER, Shard(0, 3), "n1", 1.5)
    third = source_of((), "n1 once more", HEADER, Shard(0, 3), "n1", 1.02)
    assert only([*on_nodes(n1=1.0, n2=1.0, n3=1.0), again, third]).left_out == ()


def test_shards_of_which_there_is_nothing_are_named() -> None:
    sources = [source_of(DATASET.measurements[:7], "a", shard=Shard(1, 4)), source_of((), "b", shard=Shard(3, 4))]
    assert only(sources).missing == (Shard(0, 4), Shard(2, 4))
    others = [source_of((), f"c{number}", shard=Shard(number, 2)) for number in range(2)]
    assert only([*sources, *others]).missing == ()
    assert only([source_of(DATASET.measurements)]).missing == ()


def test_programs_that_lack_runs_are_named_as_of_a_shard_under_way() -> None:
    assert only([source_of(DATASET.measurements)]).unfinished == ()
    assert only([source_of(DATASET.measurements[:10])]).unfinished == (("p1", 4),)
