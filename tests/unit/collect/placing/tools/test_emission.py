import shlex
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.tools.emission import Emission, emit, expresses
from numapredict.collect.placing.tools.tools import TOOLS, Tool
from numapredict.collect.program import Program, program_of
from numapredict.collect.space import full_space
from numapredict.collect.topology import Topology
from tests.samples import topology_of
from tests.shapes import shape

FOUR = topology_of((4, 4, 4, 4))  # PUs alternate: node 0 has 0, 4, 8, 12
SMT = shape((2, 2), pus=2)
GAPS = shape((4, 4))  # OS indices of nodes 10 and 11
PROGRAM = program_of(("./app",))


def emitted(tool: Tool, label: str, topology: Topology = FOUR, caller: dict[str, str] | None = None) -> Emission:
    return emit(tool, resolve(parse_label(label), topology), PROGRAM, caller)


def words_of(text: str) -> tuple[dict[str, str], list[str]]:
    """Return what sh makes of a command: the variables before it and its words."""
    words = shlex.split(text)
    count = next(i for i, word in enumerate(words) if "=" not in word or word.startswith("-"))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_job_of_ranks_is_a_caution(tool: Tool) -> None:
    placement = resolve(parse_label("8x2-scatter-first-touch"), FOUR)
    assert "each rank gets all threads" in emit(tool, placement, program_of(("mpiexec", "./app")), {}).cautions[0]
    assert not any("rank" in caution for caution in emit(tool, placement, PROGRAM, {}).cautions)


def test_numactl_alone_has_weights_and_says_what_they_take() -> None:
    far = shape([4, 4], distances=[[10, 30], [30, 10]])
    found = emitted("numactl", "4x1-contiguous-weighted@2", far)
    assert found.exact
    assert "--weighted-interleave=10-11" in words_of(found.text)[1]
    assert "weighted_interleave/node10 to 3, " in found.cautions[-1]
    assert "weighted_interleave/node11 to 1 " in found.cautions[-1]
    other = emitted("hwloc", "4x1-contiguous-weighted@2", far)
    assert (other.exact, other.mapping.label) == (False, "4x1-contiguous-interleave@2")
    assert "exact: --emit numactl" in other.note


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("label", ["4x1-contiguous-bind", "8x2-scatter-bind@1", "4x1-contiguous-remote"])
def test_a_full_node_ends_no_program(tool: Tool, label: str) -> None:
    """numactl --membind and likwid-pin -m would; hwloc-bind's --membind does so with --strict alone."""
    words = words_of(emitted(tool, label).text)[1]
    assert not {"-m", "--strict"}.intersection(words)
    assert not any(word.startswith("--membind=") for word in words)


@pytest.mark.parametrize(
    ("label", "options"),
    [
        ("8x4-scatter-first-touch", "--cpubind pu:0-7"),
        ("4x2-contiguous-interleave", "--cpubind pu:0-1 pu:4-5 --membind --mempolicy interleave numanode:0-1"),
        ("4x1-contiguous-interleave@4", "--cpubind pu:0 pu:4 pu:8 pu:12 --membind --mempolicy interleave numanode:0-3"),
        ("8x4-scatter-bind@1", "--cpubind pu:0-7 --membind --mempolicy bind numanode:0"),
    ],
)
def test_hwloc_bind_names_objects_by_os_index(label: str, options: str) -> None:
    variables, words = words_of(emitted("hwloc", label).text)
    assert words == ["hwloc-bind", "--physical", *options.split(), "--", "./app"]
    assert variables["OMP_PLACES"]


def test_hwloc_bind_names_nodes_with_gaps() -> None:
    assert "--mempolicy bind numanode:11 --" in emitted("hwloc", "2x1-contiguous-remote", GAPS).text


@pytest.mark.parametrize(
    ("label", "options"),
    [
        ("8x4-scatter-first-touch", "-c 0,1,2,3,4,5,6,7"),
        ("4x2-contiguous-first-touch", "-c 0,4,1,5"),
        ("4x2-contiguous-interleave", "-i -c 0,4,1,5"),
        ("4x2-contiguous-interleave@4", "-i -c 0,4,1,5,2,3"),  # after the threads': for their nodes
        ("4x1-contiguous-bind", "-c 0,4,8,12"),
    ],
)
def test_likwid_pin_lists_the_threads_in_order(label: str, options: str) -> None:
    emission = emitted("likwid", label)
    variables, words = words_of(emission.text)
    assert words == ["likwid-pin", *options.split(), "./app"]
    assert variables["OMP_NUM_THREADS"] == label.split("x", maxsplit=1)[0]
    assert "OMP_PLACES" not in variables
    assert (emission.exact, emission.note) == (True, "")


@pytest.mark.parametrize(
    ("label", "option"),
    [
        ("4x2-contiguous-bind@1", "--preferred=0"),
        ("4x1-contiguous-remote", "--preferred=1"),
        ("8x4-scatter-interleave@2", "--interleave=0-1"),
    ],
)
def test_numactl_sets_the_pages_that_likwid_pin_has_no_option_for(label: str, option: str) -> None:
    emission = emitted("likwid", label)
    words = words_of(emission.text)[1]
    assert (emission.exact, emission.note) == (True, "")
    assert words[:2] == ["likwid-pin", "-c"]
    assert words[3:] == ["numactl", option, "./app"]
    assert "the pages need numactl in addition to likwid-pin" in emission.cautions


def test_taskset_sets_the_pus_and_numactl_the_pages_that_need_it() -> None:
    assert words_of(emitted("taskset", "4x2-contiguous-first-touch").text)[1] == ["taskset", "-c", "0-1,4-5", "./app"]
    away = words_of(emitted("taskset", "4x1-contiguous-remote").text)[1]
    assert away[3:] == ["numactl", "--preferred=1", "./app"]


def test_likwid_pin_counts_nodes_so_with_gaps_numactl_names_them() -> None:
    text = emitted("likwid", "4x2-scatter-interleave", GAPS).text
    assert text.endswith("likwid-pin -c 0,4,1,5 numactl --interleave=10-11 ./app")
    assert "numactl" not in emitted("likwid", "4x2-scatter-first-touch", GAPS).text


@pytest.mark.parametrize(
    ("tool", "label", "topology", "places"),
    [
        ("env", "8x2-contiguous-first-touch", shape((4, 4)), "cores OMP_PROC_BIND=close"),
        ("env", "4x1-contiguous-first-touch", shape((4, 4)), "cores OMP_PROC_BIND=close"),
        ("env", "2x2-contiguous-first-touch", shape((4, 4)), "cores OMP_PROC_BIND=spread"),
        ("numactl", "2x2-contiguous-first-touch", shape((4, 4)), "cores OMP_PROC_BIND=close"),  # of the two in its mask
        ("slurm", "4x2-contiguous-first-touch", shape((4, 4)), "cores OMP_PROC_BIND=close"),
        ("hwloc", "4x2-scatter-first-touch", shape((4, 4)), "'{0},{4},{1},{5}' OMP_PROC_BIND=close"),
        ("env", "6x2-contiguous-first-touch", shape((4, 4)), "'{0}:3,{4}:3' OMP_PROC_BIND=close"),
        ("env", "16x4-contiguous-first-touch", FOUR, "'{0}:4:4,{1}:4:4,{2}:4:4,{3}:4:4' OMP_PROC_BIND=close"),
    ],
)
def test_places_are_named_by_kind_where_both_runtimes_mean_the_same(
    tool: Tool, label: str, topology: Topology, places: str
) -> None:
    assert f" OMP_PLACES={places} " in emitted(tool, label, topology).text


@pytest.mark.parametrize(
    ("label", "topology", "domains"),
    [
        ("8x2-contiguous-first-touch", FOUR, "M0:0-3@M1:0-3"),
        ("4x1-contiguous-bind", FOUR, "M0:0-3"),
        ("6x2-contiguous-first-touch", FOUR, None),  # parts of nodes
        ("8x2-scatter-first-touch", FOUR, None),  # in another order
        ("4x1-contiguous-first-touch-smt2", SMT, None),
        ("8x2-contiguous-first-touch", GAPS, None),  # LIKWID counts nodes without gaps
    ],
)
def test_likwids_domains_of_whole_nodes_are_told(label: str, topology: Topology, domains: str | None) -> None:
    told = [text for text in emitted("likwid", label, topology).cautions if text.endswith(" means the same")]
    same = f"where a job may use all cores of the computer, -c {domains} means the same"
    assert told == ([] if domains is None else [same])


def srun_words(text: str) -> tuple[set[int], list[str]]:
    """Return what srun(1) reads: the PUs of the hexadecimal mask of the one task, and the words that it starts."""
    _, words = words_of(text)
    assert words[0] == "srun"
    count = next(i for i, word in enumerate(words[1:], start=1) if not word.startswith("--"))
    options = dict(word.split("=", 1) for word in words[1:count] if "=" in word)
    assert options["--mem-bind"] == "none"
    mask = int(options["--cpu-bind"].removeprefix("mask_cpu:"), 16)
    return {bit for bit in range(mask.bit_length()) if mask >> bit & 1}, words[count:]


@pytest.mark.parametrize(
    ("label", "memory"),
    [
        ("8x4-scatter-first-touch", ""),
        ("8x4-contiguous-bind@1", "numactl --preferred=0"),
        ("4x2-contiguous-remote@1", "numactl --preferred=2"),
        ("8x4-scatter-interleave", "numactl --interleave=0-3"),
        ("8x4-scatter-interleave@2", "numactl --interleave=0-1"),
    ],
)
def test_srun_has_one_task_with_all_pus_and_numactl_the_pages(label: str, memory: str) -> None:
    emission = emitted("slurm", label)
    pus = {slot.pu for slot in resolve(parse_label(label), FOUR).slots}
    assert srun_words(emission.text) == (pus, [*memory.split(), "./app"])
    assert (emission.exact, emission.note) == (True, "")
    # --exclusive alone gives a step one CPU.
    assert {"--nodes=1", "--ntasks=1", "--exclusive", "--cpus-per-task=16", "--export=ALL"} <= set(
        words_of(emission.text)[1]
    )
    assert "--hint" not in emission.text  # excludes --cpu-bind
    assert any("task/affinity" in risk_weight for risk_weight in emission.cautions)
    assert any("numactl" in risk_weight for risk_weight in emission.cautions) == bool(memory)


def test_srun_asks_for_the_second_threads_of_the_cores_too() -> None:
    emission = emitted("slurm", "4x2-scatter-first-touch", shape((4, 4), pus=2))
    assert " --cpus-per-task=16 " in emission.text
    assert any("CPUTot" in risk_weight for risk_weight in emission.cautions)


def test_srun_stays_in_an_allocation_and_drops_what_narrows_it() -> None:
    caller = {"SLURM_JOB_ID": "7", "SLURM_HINT": "nomultithread", "SLURM_CPUS_PER_TASK": "1"}
    text = emitted("slurm", "8x4-scatter-first-touch", caller=caller).text
    assert "--exclusive" not in text
    assert "--cpus-per-task" not in text
    assert text.startswith("env -u SLURM_HINT -u SLURM_CPUS_PER_TASK ")


def test_variables_alone_place_no_pages() -> None:
    assert not emitted("env", "8x4-scatter-interleave").exact
    alone = emitted("env", "4x1-contiguous-bind")  # all threads there touch first
    assert alone.exact
    assert alone.text.endswith("OMP_DYNAMIC=false ./app")
    assert "any node" in alone.cautions[0]
    assert emitted("numactl", "4x1-contiguous-bind").cautions == ()
    assert "any of these nodes" in emitted("numactl", "8x2-scatter-first-touch").cautions[0]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("topology", [FOUR, GAPS, SMT], ids=["4x4", "gaps", "smt"])
def test_every_mapping_has_a_command_with_its_threads(tool: Tool, topology: Topology) -> None:
    for mapping in full_space(topology):
        emission = emit(tool, resolve(mapping, topology), PROGRAM)
        assert emission.exact == expresses(tool, resolve(mapping, topology)) == (emission.note == ""), mapping.label
        assert resolve(emission.mapping, topology).slots == resolve(mapping, topology).slots
        if not emission.exact:
            assert mapping.page_policy in emission.note
            assert "\n" not in emission.note
            again = emit(tool, resolve(emission.mapping, topology), PROGRAM)
            assert (again.exact, again.text) == (True, emission.text), mapping.label


def test_who_else_is_exact_is_named_and_is() -> None:
    emission = emitted("env", "8x4-scatter-interleave@2")
    assert emission.note.endswith(
        "exact: --emit taskset or --emit numactl or --emit hwloc or --emit likwid or --emit slurm"
    )
    assert resolve(parse_label("8x4-scatter-interleave@2"), FOUR).page_nodes == (0, 1)
    assert emitted("slurm", "8x4-scatter-locality").note.endswith(
        "exact: numapredict run --mapping 8x4-scatter-locality"
    )


@pytest.mark.parametrize(
    ("tool", "name"),
    [("likwid", "OMP_PLACES"), ("likwid", "OMP_DISPLAY_AFFINITY"), ("hwloc", "HWLOC_XMLFILE"), ("env", "KMP_AFFINITY")],
)
def test_variables_that_would_undo_it_are_unset(tool: Tool, name: str) -> None:
    emission = emitted(tool, "8x4-scatter-first-touch", caller={name: "x"})
    assert emission.text.startswith(f"env -u {name} ")
    assert f"{name} in your environment would counteract it" in emission.note


@pytest.mark.parametrize(
    ("tool", "starter"), [("env", "printf"), ("numactl", "numactl"), ("hwloc", "hwloc-bind"), ("slurm", "srun")]
)
def test_a_shell_understands_it(tool: Tool, starter: str) -> None:
    program = Program(name="p", command=("printf", "a b", "$HOME"), environment=(("X", "1 2"),), directory="/")
    text = emit(tool, resolve(parse_label("8x2-scatter-bind@1"), FOUR), program).text
    # The computer of this test may lack those cores: a function shows what sh parsed in the tool's place.
    script = 'shown() { command printf "%s|" "$PWD" "$X" "$OMP_NUM_THREADS" "$@"; }; '
    script += text.replace(f" {starter} ", " shown ", 1)
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    shown = done.stdout.split("|")[:-1]
    assert shown[:3] == ["/", "1 2", "8"]
    assert shown[-2:] == ["a b", "$HOME"]


@pytest.mark.parametrize("caller", [{}, {"KMP_AFFINITY": "x"}])  # without env in front, and with it
@pytest.mark.parametrize("name", ["n=512/prog", "x=y"])
def test_a_program_with_an_equals_sign_is_no_variable(tmp_path: Path, name: str, caller: dict[str, str]) -> None:
    program = tmp_path / name
    program.parent.mkdir(exist_ok=True)
    program.write_text('#!/bin/sh\nprintf "%s|" "$OMP_NUM_THREADS" "$@"\n')
    program.chmod(0o755)
    typed = Program(name="p", command=(name, "a b", "c=d"), directory=str(tmp_path))
    text = emit("env", resolve(parse_label("8x2-scatter-bind@1"), FOUR), typed, caller).text
    own = {"PATH": f"{tmp_path}:/usr/bin:/bin", **caller}
    done = subprocess.run(["/bin/sh", "-c", text], env=own, capture_output=True, text=True, check=True)
    assert done.stdout == "8|a b|c=d|"


@pytest.mark.parametrize("tool", TOOLS)
def test_one_memory_node_needs_no_page_policy(tool: Tool) -> None:
    emission = emitted(tool, "2x1-contiguous-bind", topology_of((4,)))
    assert emission.exact
    assert not any(word in emission.text for word in ("--membind", " -m ", "interleave"))


@pytest.mark.parametrize("tool", TOOLS)
def test_what_cannot_be_seen_is_seen_in_a_command_and_copied_with_it(tool: Tool) -> None:
    words = ("./app", "turned\u202eround", "hidden\u200b", "red\x1b[31m", "two\nlines", "it's", "\x85\u2069")
    program = Program(name="app", command=words, environment=(("SAID", "a\u2066b"),), directory="/data/\u202ex")
    text = emit(tool, resolve(parse_label("4x2-contiguous-interleave"), FOUR), program).text
    assert text.isprintable()
    if "NUMAPREDICT_WORD" in text:  # the words are in variables there, quoted likewise
        return
    script = f"set --{text.partition('./app')[2]}; printf '%s\\0' \"$@\""
    given = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True)
    assert given.stdout.decode() == "".join(f"{word}\0" for word in words[1:])


def test_two_threads_of_a_core_are_two_places() -> None:
    label = "4x2-contiguous-first-touch-smt2"  # cores 0 and 2, whose PUs are 4 apart
    for tool in ("env", "numactl", "hwloc", "slurm"):
        assert "OMP_PLACES='{0},{4},{2},{6}' " in emitted(tool, label, SMT).text
    assert "--physcpubind=0,2,4,6 " in emitted("numactl", label, SMT).text
    assert "likwid-pin -c 0,4,2,6 " in emitted("likwid", label, SMT).text
    assert "--cpu-bind=mask_cpu:0x55 " in emitted("slurm", label, SMT).text
    assert any("--hint=nomultithread" in text for text in emitted("slurm", label, SMT).cautions)
    alone = emitted("slurm", "4x2-contiguous-first-touch", SMT)
    assert not any("--hint=nomultithread" in text for text in alone.cautions)
