"""The packets between the capture library and the watching process, and that both sides mean the same by them."""

import re
import struct
import subprocess
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from numapredict.collect.capturing import exchange
from numapredict.collect.capturing.exchange import (
    AskedRegion,
    go_on_packet,
    job_packet,
    outcome_of,
    question_of,
    variable_text,
    wanted_packet,
)
from numapredict.collect.capturing.filling import fill_bytes
from numapredict.collect.mapping import parse_label
from numapredict.collect.page_policy import PagePolicy
from numapredict.collect.placement import resolve
from numapredict.collect.topology import Bandwidths
from tests.openmp import GCC
from tests.shapes import shape

HEADER = Path(__file__).parents[4] / "native" / "capture" / "exchange.h"
TOPOLOGY = shape([4, 4])

PROGRAM = """
#include "exchange.h"
#include <stdio.h>
#include <string.h>
int main(int count, char **) {
    struct question q = {1, 2, 3, 4, 5, "some/module"};
    struct wanted w;
    struct outcome o = {OUTCOME_CALL, 16, 2, 7, 1000, 2000, 3000, 90, 2, 1, 4, {5000, 6000}, {7000}};
    struct job j;
    if (count > 1) {
        if (fread(&w, sizeof w, 1, stdin) != 1 || getchar() != EOF)
            return 1;
        for (unsigned n = 0; n < w.count; n++)
            printf("%lu %lu\\n", (unsigned long)w.instance[n].key, (unsigned long)w.instance[n].number);
        return 0;
    }
    if (fread(&j, sizeof j, 1, stdin) != 1)
        return 1;
    if (j.answer != REPLAY)
        return j.answer == GO_ON ? 10 : 11;
    fwrite(&q, sizeof q, 1, stdout);
    fwrite(&o, sizeof o, 1, stdout);
    fprintf(stderr, "%u %u %u %u %u %u cpus %u %u nodes %u %u fill %lu %lu", j.answer, j.threads, j.copies, j.nodes,
            j.replays, j.limit_ms, j.cpu[0], j.cpu[j.threads - 1], j.node[0], j.node[1],
            (unsigned long)j.fill_bytes, (unsigned long)j.enough_ns);
    return 0;
}
"""


def test_the_library_and_this_side_mean_the_same(tmp_path: Path) -> None:
    if not GCC or not HEADER.is_file():
        pytest.skip("gcc or the C sources are missing")
    source, program = tmp_path / "both.c", tmp_path / "both"
    source.write_text(PROGRAM)
    subprocess.run([GCC, "-Wall", "-Werror", "-I", HEADER.parent, "-o", program, source], check=True)
    placement = resolve(parse_label("6x2-scatter-interleave"), TOPOLOGY)
    done = subprocess.run(
        [program], input=job_packet(placement, 3, 1.5, enough_s=2e-6), capture_output=True, check=True
    )
    nodes = placement.os_page_nodes
    cpus, fill = f"{placement.pus[0]} {placement.pus[5]}", fill_bytes(placement)
    assert done.stderr.decode() == f"1 6 2 2 3 1500 cpus {cpus} nodes {nodes[0]} {nodes[1]} fill {fill} 2000"
    assert subprocess.run([program], input=go_on_packet(), check=False).returncode == 10
    wanted = wanted_packet([(9, 4), (2**63, 1), (9, 3), (9, 4)])
    listed = subprocess.run([program, "wanted"], input=wanted, capture_output=True, check=True).stdout.decode()
    assert listed.splitlines() == ["9 3", "9 4", f"{2**63} 1"]
    question, outcome = done.stdout[: exchange._QUESTION.size], done.stdout[exchange._QUESTION.size :]
    assert question_of(question) == AskedRegion(1, "some/module", 2, 5, 3, 4)
    found = outcome_of(outcome)
    assert found is not None
    assert found.times_s == pytest.approx((5e-6, 6e-6))
    assert found.emptied_s == pytest.approx((7e-6,))
    assert (found.team, found.pages, found.astray, found.awake) == (7, 90, 2, 4)
    assert found.fork_s == pytest.approx(1e-6)
    assert found.copy_s == pytest.approx(2e-6)
    assert found.first_s == pytest.approx(3e-6)
    assert "makes the system call" in found.problem


def test_the_states_of_the_header_are_those_of_this_side() -> None:
    states = re.findall(r"OUTCOME_\w+ = (\d+)", HEADER.read_text())
    assert list(map(int, states)) == list(range(len(exchange._STATES)))


def test_only_so_many_instances_are_wanted_as_there_is_room_for() -> None:
    many = [(1, number) for number in range(exchange.MOST_WANTED + 5)]
    assert wanted_packet(many) == wanted_packet(many[: exchange.MOST_WANTED])


def test_packets_of_another_size_or_kind_are_neither() -> None:
    assert question_of(b"") is None
    assert outcome_of(b"") is None
    assert question_of(bytes(exchange._QUESTION.size + 1)) is None
    unknown = struct.pack("=I", len(exchange._STATES)) + bytes(exchange._OUTCOME.size - 4)
    assert outcome_of(unknown) is None


@pytest.mark.parametrize(
    ("state", "detail", "said"),
    [
        (1, 0, ""),
        (3, 11, "SIGSEGV"),
        (4, 0, "too long"),
        (5, 0, "memory"),
        (7, 0, "device"),
        (8, 0, "ended the program"),
        (9, 11, "touches are observed"),
    ],
)
def test_what_went_wrong_is_said_in_words(state: int, detail: int, said: str) -> None:
    found = outcome_of(struct.pack("=Ii", state, detail) + bytes(exchange._OUTCOME.size - 8))
    assert found is not None
    assert said in found.problem
    assert bool(found.problem) == (state != 1)
    assert found.times_s == ()


def test_a_replay_with_its_pages_elsewhere_is_none() -> None:
    head = struct.pack("=IiIIQQQ", 1, 0, 1, 8, 0, 0, 0)
    assert not outcome_of(head + struct.pack("=QQII16QII", 100, 5, 0, 0, *range(16), 0, 0)).problem  # type: ignore[union-attr]
    found = outcome_of(head + struct.pack("=QQII16QII", 100, 6, 0, 0, *range(16), 0, 0))
    assert found is not None
    assert found.problem == "6 of 100 copied pages are on other nodes than wanted: too little memory on these"


def test_the_answer_to_go_on_is_no_job() -> None:
    placement = resolve(parse_label("1x1-contiguous-bind"), TOPOLOGY)
    assert len(go_on_packet()) == len(job_packet(placement, 3, 1))
    assert not any(go_on_packet())


def test_each_page_policy_has_copies() -> None:
    assert set(exchange.COPIES_OF) == set(get_args(PagePolicy))


def test_by_weight_the_nodes_are_in_turn_an_odd_number_of_times() -> None:
    far = msgspec.structs.replace(TOPOLOGY, bandwidths=Bandwidths(((9.0, 9.0),) * 2, ((30.0, 10.0), (10.0, 30.0))))
    placement = resolve(parse_label("4x1-contiguous-weighted@2"), far)
    first = placement.os_page_nodes[0]
    fields = exchange._JOB.unpack(job_packet(placement, 3, 1))
    copies, count = fields[2:4]
    nodes = fields[-exchange.MOST_NODES :][:count]
    assert (copies, count) == (exchange._COPIES["dataset"], 4 * 15)
    assert nodes.count(first) == 3 * 15


def test_by_dataset_the_nodes_are_by_chunk_one_a_thread() -> None:
    packet = job_packet(resolve(parse_label("8x2-contiguous-dataset"), TOPOLOGY), 3, 1)
    _, threads, copies, nodes = struct.unpack_from("=4I", packet)
    assert (threads, copies, nodes) == (8, exchange._COPIES["dataset"], 8)
    assert struct.unpack_from("=8H", packet, len(packet) - 2 * exchange.MOST_NODES) == (10,) * 4 + (11,) * 4


def test_the_header_and_this_side_number_the_copies_alike() -> None:
    numbers = dict(re.findall(r"COPIES_(\w+) = (\d+)", HEADER.read_text()))
    assert {name.lower(): int(number) for name, number in numbers.items()} == exchange._COPIES


def test_the_report_may_be_any_path() -> None:
    assert variable_text("name", "/some/a;b c") == "version=5;server=name;report=/some/a;b c"
