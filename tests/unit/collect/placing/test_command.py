import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.index_list import index_list
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.page_policy import EXPRESSIBLE
from numapredict.collect.placement import resolve
from numapredict.collect.placing.command import launch, places, run_command
from numapredict.collect.placing.tools.emission import Emission, emit
from numapredict.collect.program import Program, program_of
from numapredict.collect.space import full_space
from numapredict.collect.topology import Topology
from tests.samples import topology_of

TOPOLOGY = topology_of((4, 4), os_indices=(0, 2))  # PUs alternate: node 0 has 0, 2, 4, 6
PROGRAM = program_of(("./app", "a b", "$HOME"))


def numactl_command(
    mapping: Mapping, topology: Topology, program: Program, shell: dict[str, str] | None = None
) -> Emission:
    return emit("numactl", resolve(mapping, topology), program, shell)


def text_of(label: str) -> str:
    return numactl_command(parse_label(label), TOPOLOGY, program_of(("./app",))).text


def test_threads_are_placed_in_thread_order() -> None:
    assert text_of("4x2-contiguous-first-touch") == (
        "OMP_NUM_THREADS=4 OMP_PLACES='{0},{2},{1},{3}' OMP_PROC_BIND=close OMP_DYNAMIC=false"
        " numactl --physcpubind=0-3 ./app"
    )
    assert "OMP_PLACES='{0}:4'" in text_of("4x2-scatter-first-touch")


@pytest.mark.parametrize(
    ("label", "option"),
    [
        ("4x2-scatter-first-touch", ""),
        ("4x2-scatter-interleave", " --interleave=0,2"),
        ("4x1-contiguous-interleave@2", " --interleave=0,2"),
        ("4x1-contiguous-bind", " --preferred=0"),
        ("4x2-contiguous-bind@1", " --preferred=0"),
        ("4x1-contiguous-remote", " --preferred=2"),
        ("4x1-contiguous-locality", " --preferred=0"),  # with one thread node, the same as bind
        ("4x2-contiguous-mix@1", " --preferred=0"),
    ],
)
def test_pages_are_placed_by_numactl_in_os_numbers(label: str, option: str) -> None:
    command = numactl_command(parse_label(label), TOPOLOGY, program_of(("./app",)))
    assert f"{option} ./app" in command.text
    assert command.text.count("--") == 1 + bool(option)
    assert (command.exact, command.note) == (True, "")


@pytest.mark.parametrize(
    ("label", "option"),
    [
        ("4x2-scatter-locality", ""),
        ("4x2-scatter-mix", ""),
        ("4x2-scatter-dataset", ""),
        ("4x2-scatter-balance", " --interleave=0,2"),
    ],
)
def test_what_cannot_be_expressed_is_approached_and_said(label: str, option: str) -> None:
    command = numactl_command(parse_label(label), TOPOLOGY, PROGRAM)
    assert not command.exact
    assert f"0-3{option} ./app" in command.text
    assert f"cannot express {parse_label(label).page_policy}" in command.note
    assert ("interleave" if option else "first-touch") in command.note
    assert "\n" not in command.note


def test_the_command_of_the_preload_library_names_the_label_and_keeps_the_words() -> None:
    mapping = parse_label("4x2-scatter-locality")
    assert run_command(mapping, PROGRAM) == f"numapredict run --mapping {mapping.label} -- ./app 'a b' '$HOME'"
    program = Program(name="p", command=("./p",), environment=(("X", "1 2"),), directory="/a b")
    assert run_command(mapping, program) == f"cd '/a b' && X='1 2' numapredict run --mapping {mapping.label} -- ./p"


def test_every_mapping_has_a_command_with_a_place_a_thread() -> None:
    for mapping in full_space(TOPOLOGY):
        command = numactl_command(mapping, TOPOLOGY, PROGRAM)
        assert command.exact == (mapping.page_policy in EXPRESSIBLE), mapping.label
        variables = dict(launch(resolve(mapping, TOPOLOGY)).environment)
        places = written_out(variables["OMP_PLACES"])
        assert places == [slot.pu for slot in resolve(mapping, TOPOLOGY).slots], mapping.label
        assert variables["OMP_NUM_THREADS"] == str(len(places))


def test_a_shell_understands_it() -> None:
    program = Program(name="p", command=("printf", "%s|", "a b", "$HOME"), environment=(("X", "1 2"),), directory="/")
    command = numactl_command(parse_label("4x2-scatter-first-touch"), TOPOLOGY, program)
    # The computer of this test may lack those cores: let the shell put what it parsed in numactl's place.
    script = 'numactl() { printf "%s|" "$PWD" "$X" "$OMP_PLACES" "$@"; }; ' + command.text
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("|")[:-1] == [
        "/", "1 2", "{0}:4", "--physcpubind=0-3", "printf", "%s|"[:-1], "", "a b", "$HOME",
    ]  # fmt: skip


def test_variables_in_the_way_are_named() -> None:
    mapping = parse_label("4x2-scatter-first-touch")
    shell = {"KMP_AFFINITY": "compact", "OMP_NUM_THREADS": "99", "OMP_DYNAMIC": "false", "OMP_SCHEDULE": "static"}
    command = numactl_command(mapping, TOPOLOGY, PROGRAM, shell)
    assert command.text.startswith("env -u KMP_AFFINITY OMP_NUM_THREADS=4 ")
    assert command.exact
    assert "KMP_AFFINITY in your environment" in command.note
    assert "OMP_NUM_THREADS in your environment is overridden" in command.note
    assert "OMP_DYNAMIC" not in command.note
    assert "OMP_SCHEDULE" not in command.note


def test_a_programs_own_variables_stay_but_the_mapping_wins() -> None:
    program = Program(name="p", command=("./p",), environment=(("OMP_NUM_THREADS", "7"), ("OMP_SCHEDULE", "dynamic,1")))
    words = shlex.split(numactl_command(parse_label("4x2-scatter-first-touch"), TOPOLOGY, program).text)
    assert words[:2] == ["OMP_SCHEDULE=dynamic,1", "OMP_NUM_THREADS=4"]
    assert words.count("OMP_NUM_THREADS=7") == 0


def test_one_memory_node_needs_no_memory_policy() -> None:
    start = launch(resolve(parse_label("2x1-contiguous-bind"), topology_of((2,))))
    assert start.numactl == ("numactl", "--physcpubind=0-1")
    assert not start.memory_policy


@given(st.sets(st.integers(0, 300)))
def test_ranges_name_exactly_the_numbers(numbers: set[int]) -> None:
    found: list[int] = []
    for part in filter(None, index_list(numbers).split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    assert found == sorted(numbers)


def written_out(text: str) -> list[int]:
    """Return the PUs of an OMP_PLACES text, by OpenMP's own rules for intervals."""
    numbers: list[int] = []
    for part in text.split(","):
        first, *rest = part.split(":")
        count, step = int(rest[0]) if rest else 1, int(rest[1]) if len(rest) > 1 else 1
        numbers += [int(first.strip("{}")) + step * n for n in range(count)]
    return numbers


@given(st.lists(st.integers(0, 63), min_size=1, max_size=40, unique=True))
def test_places_keep_every_pu_and_their_order(pus: list[int]) -> None:
    assert written_out(places(pus)) == pus


@pytest.mark.parametrize(
    ("pus", "text"),
    [
        ([0, 1, 2, 3], "{0}:4"),
        ([0, 8, 16, 24, 1, 9, 17, 25], "{0}:4:8,{1}:4:8"),
        ([5, 3], "{5},{3}"),
        ([0, 1], "{0},{1}"),
    ],
)
def test_places_in_rows_are_short(pus: list[int], text: str) -> None:
    assert places(pus) == text


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_runtimes_read_the_rows_as_we_write_them(tmp_path: Path, compiler: str) -> None:
    source = tmp_path / "places.c"
    source.write_text(
        "#include <stdio.h>\n#include <omp.h>\nint main(void) { for (int p = 0; p < omp_get_num_places(); p++) {"
        'int id[64]; omp_get_place_proc_ids(p, id); printf("%d ", id[0]); } return 0; }'
    )
    program = tmp_path / "places"
    subprocess.run([compiler, "-fopenmp", str(source), "-o", str(program)], check=True)
    pus = sorted(os.sched_getaffinity(0))
    environment = {**os.environ, "OMP_PLACES": places(pus) if len(pus) > 2 else f"{{{pus[0]}}}:{len(pus)}"}
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True, env=environment)
    assert [int(word) for word in done.stdout.split()] == pus
