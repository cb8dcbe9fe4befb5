"""Libraries opened with RTLD_DEEPBIND: their regions are seen and placed, what they bring stays theirs."""

import os
import struct
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.region_times import region_times_of_processes
from tests.command import numapredict, refusal
from tests.preloaded import CLANG, GCC, placed

CPUS = sorted(os.sched_getaffinity(0))
FIRST, OTHER = CPUS[0], CPUS[-1]

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.skipif(len(CPUS) < 2, reason="there is one CPU"),
]

OPENER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
    (void)count;
    void *opened = dlopen(words[1], RTLD_DEEPBIND | (words[2][0] == 'l' ? RTLD_LAZY : RTLD_NOW));
    if (!opened)
        return puts(dlerror()), 1;
    puts(dlerror() ? "an error" : "no error");
    ((void (*)(void))dlsym(opened, "work"))();
    return 26;
}
"""

LIBRARY = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef ARENA
static _Alignas(64) char arena[1 << 20];
static size_t used;
void *malloc(size_t bytes) { used += (bytes + 63) / 64 * 64; return arena + used - (bytes + 63) / 64 * 64; }
void free(void *block) { (void)block; }
#endif
void work(void) {
    char *block = malloc(100000);
    long sum = 0;
    for (int n = 0; n < 7; n++)
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 1000; i++)
            sum += i;
#ifdef ARENA
    printf("%d ", block >= arena && block < arena + sizeof arena);
#endif
    printf("%ld %d\\n", sum, omp_get_max_threads());
    free(block);
}
"""


def made(folder: Path, compiler: str, *options: str, runpath: bool = False) -> Path:
    """Build the program and the library, and return the program."""
    (folder / "opener.c").write_text(OPENER)
    (folder / "library.c").write_text(LIBRARY)
    own = [f"-Wl,-rpath,{folder}"] if runpath else []
    subprocess.run([GCC, folder / "opener.c", "-o", folder / "opener", "-ldl", *own], check=True)
    command = [compiler, "-O1", "-fopenmp", "-shared", "-fPIC", *options, folder / "library.c"]
    subprocess.run([*command, "-o", folder / "library.so"], check=True)
    return folder / "opener"


def run(program: Path, *words: str) -> str:
    folder = program.parent
    text = f"cpus={FIRST},{OTHER};homes=0*2;threads=contiguous;pages=bind;nodes=0"
    environment = placed(f"{text};map={folder / 'map'};report={folder / 'regions'}", 2)
    done = subprocess.run(
        [program, *words], env=environment, check=False, capture_output=True, text=True, timeout=240, cwd=folder
    )
    assert (done.returncode, done.stderr) == (26, "")
    return done.stdout


@pytest.mark.parametrize("compiler", [name for name in (GCC, CLANG) if name])
@pytest.mark.parametrize("how", ["lazy", "now"])
def test_its_regions_are_seen_and_its_threads_bound(compiler: str, how: str, tmp_path: Path) -> None:
    program = made(tmp_path, compiler, *(["-Wl,-z,now"] if how == "now" else ["-Wl,-z,lazy"]))
    assert run(program, "./library.so", how) == "no error\n3496500 2\n"
    (found,) = region_times_of_processes(tmp_path / "regions")
    assert [(region.count, region.team) for region in found.regions] == [(7, 2)]
    seen = read_map(tmp_path / "map")
    assert seen is not None
    assert [(thread.slot, thread.right, thread.wrong) for thread in seen.threads if thread.slot == 1] == [(1, 7, 0)]
    assert not (tmp_path / "regions.unseen").exists()


def test_a_page_that_is_constant_only_in_part_stays_writable(tmp_path: Path) -> None:
    """The loader protects whole pages; here the constant part ends among the calls that are bound when first made."""
    program = made(tmp_path, GCC, "-Wl,-z,lazy", "-Wl,-z,relro")
    library = bytearray((tmp_path / "library.so").read_bytes())
    headers, size, count = *struct.unpack_from("<Q", library, 32), *struct.unpack_from("<HH", library, 54)
    (constant,) = (
        at
        for at in range(headers, headers + size * count, size)
        if struct.unpack_from("<I", library, at) == (0x6474E552,)  # PT_GNU_RELRO
    )
    (in_memory,) = struct.unpack_from("<Q", library, constant + 40)
    struct.pack_into("<Q", library, constant + 40, in_memory + 256)
    (tmp_path / "library.so").write_bytes(library)
    assert run(program, "./library.so", "lazy") == "no error\n3496500 2\n"


def test_its_own_allocator_stays_its_own(tmp_path: Path) -> None:
    program = made(tmp_path, GCC, "-DARENA")
    assert run(program, "./library.so", "now") == "no error\n1 3496500 2\n"
    (found,) = region_times_of_processes(tmp_path / "regions")
    assert [region.count for region in found.regions] == [7]


def test_what_cannot_be_seen_is_said(tmp_path: Path) -> None:
    """The program's own library path finds the library: dlopen must not seem to be called by another one."""
    program = made(tmp_path, GCC, runpath=True)
    assert run(program, "library.so", "now") == "no error\n3496500 2\n"
    assert (tmp_path / "regions.unseen").read_text() == "library.so\n"
    cause = "library.so was opened with RTLD_DEEPBIND"
    mapping = ("--regions", "--verify", "--mapping", "2x1-contiguous-bind")
    done = numapredict("run", *mapping, "--", str(program), "library.so", "now")
    assert done.returncode == 26
    assert done.stderr.count(cause) == 1
    assert cause in refusal(numapredict("variables", "--", str(program), "library.so", "now"))
