"""Calls that hand memory to the kernel succeed, or fail, in protected pages as they do anywhere."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from numapredict.native.library import placement_library
from tests.native_parts import path_or_nothing
from tests.openmp import GCC

LIBRARY = path_or_nothing(placement_library)

SOURCES = Path(__file__).parent / "placement"
NATIVE = Path(__file__).parents[2] / "native" / "placement"
MAPPING = "version=1;cpus=0,1;homes=0,1;nodes=0,1;threads=contiguous;pages=locality"
# Called by nobody here.
UNTRIED = {
    *("forkpty", "sethostname", "setdomainname", "settimeofday"),  # the first returns twice, the others change the host
    *("pututline", "pututxline", "updwtmp", "updwtmpx"),  # write to the host's log of users
    *("res_query", "res_search", "res_querydomain", "res_send", "res_nquery", "res_nsearch", "res_nquerydomain"),
    "res_nsend",  # these ask a network
    "__recvfrom_chk",  # has seven arguments
}

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (LIBRARY and GCC and NATIVE.is_dir()), reason="gcc, the library or the sources are missing"),
]


def guarded() -> set[str]:
    """Return the calls that guards.c and delays.c define."""
    names: set[str] = set()
    for arguments in re.findall(r"^GUARD\w*\((.*)\)", (NATIVE / "protection" / "guards.c").read_text(), re.MULTILINE):
        names.update(re.split(r"\W+", re.sub(r"GUARD\w*|missing\w*", "", arguments)))
    names.update(re.findall(r"^DELAY\(\w+, (\w+),", (NATIVE / "protection" / "delays.c").read_text(), re.MULTILINE))
    return names - {""}


def reported(program: Path, folder: Path, **variables: str) -> list[str]:
    folder.mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "2", **variables}
    ended = subprocess.run(
        [program], cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=300, input=""
    )
    assert ended.stderr == ""
    return ended.stdout.splitlines()


def test_every_call_ends_as_without_the_library(tmp_path: Path) -> None:
    program = tmp_path / "calls"
    command = [
        GCC,
        "-O1",
        "-fopenmp",
        "-o",
        program,
        SOURCES / "kernel_calls.c",
        "-lrt",
        "-Wl,--no-as-needed",
        "-lnuma",
    ]
    subprocess.run(command, check=True)
    alone = reported(program, tmp_path / "alone")
    placed = reported(program, tmp_path / "placed", LD_PRELOAD=LIBRARY, NUMAPLACE=MAPPING)
    # The first is a raw system call, which fails: so there are protected pages.
    assert (alone[0], placed[0]) == ("syscall done 0", "syscall -1 14")
    differing = [
        (plain, other)
        for plain, other in zip(alone[1:], placed[1:], strict=True)
        if plain != other and not plain.endswith("is absent")
    ]
    assert differing == []


def test_every_guarded_call_is_tried() -> None:
    listed = "".join((SOURCES / name).read_text() for name in ("file_calls.h", "other_calls.h"))
    tried = set(re.findall(r'^    \{"(\w+)"', listed, re.MULTILINE))
    assert guarded() - tried == UNTRIED
    assert len(guarded()) > 300
