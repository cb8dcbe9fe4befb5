"""Parts in C of what replays regions, each by a small program that calls it: kinds, threads, mappings."""

import subprocess
from pathlib import Path

import pytest

from tests.openmp import GCC

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]
NATIVE = Path(__file__).parents[2] / "native" / "capture"


def printed(command: list[str]) -> str:
    """Return what a program prints."""
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=240).stdout


KINDS = """
#include "region_kinds.h"
#include <stdio.h>
#include <stdlib.h>
static struct region_kinds kinds;
int main(int count, char **line) {
    for (int n = 1; n < count; n++) {
        struct region_kind one = {.team = 2};
        unsigned long us, work_us;
        sscanf(line[n], "%u:%u:%lu:%lu", &one.entry, &one.depth, &us, &work_us);
        one.time_ns = us * 1000;
        one.work_ns = work_us * 1000;
        region_kinds_note(&kinds, one, (uint32_t)n - 1);
    }
    for (int n = 0; n < REGION_FILE_KINDS; n++) {
        const struct region_kind *kind = &kinds.listed[n];
        if (!kind->count)
            continue;
        printf("%u:%u %u %lu %lu", kind->entry, kind->depth, kind->count, (unsigned long)kind->time_ns / 1000,
               (unsigned long)kind->work_ns / 1000);
        for (unsigned told = 0; 1u << told <= kind->count && told < 3; told++)
            printf(" %u", kind->number[told]);
        printf("\\n");
    }
}
"""


def test_instances_are_of_one_kind_where_entry_caller_time_and_work_are_alike(tmp_path: Path) -> None:
    (tmp_path / "kinds.c").write_text(KINDS)
    program, sources = tmp_path / "kinds", NATIVE.parent / "regions"
    words = ["-Wall", "-Wextra", "-Werror", "-I", sources, "-o", program, tmp_path / "kinds.c"]
    subprocess.run([GCC, *words, sources / "region_kinds.c"], check=True)

    def kinds(*instances: str) -> list[str]:
        return sorted(printed([str(program), *instances]).splitlines())

    assert kinds("1:7:1000:900", "1:7:1020:910", "1:7:1000:900") == ["1:7 3 3020 2710 0 1"]
    apart = ("1:7:1000:900", "1:8:1000:900", "2:7:1000:900", "1:7:1600:900", "1:7:1000:400")
    assert len(kinds(*apart)) == len(apart)
    assert kinds("1:7:1000:10", "1:7:1000:90") == ["1:7 2 2000 0 0 1"]  # threads that sleep: their time says more
    assert kinds("1:7:0:0", "1:7:0:0") == ["1:7 2 0 0 0 1"]
    # The 1st, 2nd, 4th, ..., of the last six of these.
    (many,) = kinds(*["1:7:1000:900"] * 70)
    assert many.split()[4:] == ["63", "1", "3"]
    full = kinds(*[f"{n}:7:1000:900" for n in range(2000)])
    assert len(full) <= 1500
    assert kinds() == []


COUNTED = """
#include "threads_left.c"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static uint64_t before[MOST_WORDS];
static void *child(void *unused) {
    struct data data = {.function = dlsym(RTLD_DEFAULT, "GOMP_parallel")};
    int lowered = 0, others = 0;
    dl_iterate_phdr(look, &data);
    copy_of(&data, before);
    threads_left_forget(RTLD_DEFAULT);
    for (size_t n = 0; n < data.words; n++) {
        lowered += before[n] == 3 && data.first[n] == 1;
        others += before[n] != data.first[n] && before[n] < 100 && data.first[n] < before[n];
    }
    printf("%d %d\\n", lowered, others);
    exit(0);
    return unused;
}
int main(void) {
#pragma omp parallel num_threads(3)
    {}
    if (fork() == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, child, NULL);
        pause();
    }
    return wait(NULL) < 0;
}
"""


def test_libgomp_counts_a_replay_s_threads_alone(tmp_path: Path) -> None:
    (tmp_path / "counted.c").write_text(COUNTED)
    program = tmp_path / "counted"
    subprocess.run([GCC, "-fopenmp", "-I", NATIVE, "-o", program, tmp_path / "counted.c"], check=True)
    assert printed([str(program)]) == "1 1\n"


BUSY = """
#include "threads_asleep.h"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile int slept;
static void *spin(void *given) {
    struct timespec t;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (given || (t.tv_sec == 0 && t.tv_nsec < 2000000));
    slept = 1;
    pause();
    return NULL;
}
int main(int count, char **line) {
    pthread_t thread;
    printf("%u ", threads_asleep());
    pthread_create(&thread, NULL, spin, NULL);
    printf("%u ", threads_asleep());
    printf("%d ", slept);
    pthread_create(&thread, NULL, spin, line[0]);
    printf("%u\\n", threads_asleep());
    return count != 1;
}
"""


def test_a_replay_waits_until_the_program_s_threads_sleep(tmp_path: Path) -> None:
    (tmp_path / "busy.c").write_text(BUSY)
    program = tmp_path / "busy"
    words = [GCC, "-pthread", "-I", NATIVE, "-o", program, tmp_path / "busy.c", NATIVE / "threads_asleep.c"]
    subprocess.run(words, check=True)
    assert printed([str(program)]) == "0 0 1 1\n"


PARSED = """
#include "mappings.h"
#include <stdio.h>
int main(int count, char **line) {
    struct mapping m;
    for (int n = 1; n < count; n++)
        if (mappings_parse(line[n], &m))
            printf("%lx-%lx%s%s%s%s\\n", m.start, m.end, m.writable ? " w" : "", m.executable ? " x" : "",
                   m.shared ? " s" : "", m.device ? " d" : m.closed ? " c" : "");
        else
            printf("none\\n");
    struct mappings all;
    printf("%d\\n", mappings_read(&all) && all.count > 5);
}
"""


def test_mappings_are_read_as_the_kernel_writes_them(tmp_path: Path) -> None:
    (tmp_path / "parsed.c").write_text(PARSED)
    words = [
        GCC,
        "-I",
        str(NATIVE),
        "-o",
        str(tmp_path / "parsed"),
        str(tmp_path / "parsed.c"),
        str(NATIVE / "mappings.c"),
    ]
    subprocess.run(words, check=True)
    lines = {
        "55d0-55f0 rw-p 00000000 00:00 0                          [heap]": "55d0-55f0 w",
        "7f00-7f10 rw-s 00000000 00:01 1024                       /dev/shm/some (deleted)": "7f00-7f10 w s",
        "7f00-7f10 rw-s 00000000 00:06 12                         /dev/infiniband/uverbs0": "7f00-7f10 w s d",
        "7f00-7f10 r-xp 00000000 08:01 99                         /usr/lib/libc.so.6": "7f00-7f10 x",
        "7ffe-7fff r-xp 00000000 00:00 0                          [vdso]": "none",
        "7f00-7f10 ---p 00000000 00:00 0": "7f00-7f10 c",
        "nonsense": "none",
        "12-": "none",
        "12-34 r": "none",
        "": "none",
    }
    done = printed([str(tmp_path / "parsed"), *lines])
    assert done.splitlines() == [*lines.values(), "1"]
