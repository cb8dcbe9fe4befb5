"""Programs that are nobody's OpenMP program run under the whole library as they do without it."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.native.library import placement_library
from tests.native_parts import path_or_nothing
from tests.openmp import GCC

LIBRARY = path_or_nothing(placement_library)

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (LIBRARY and GCC), reason="the library is not built, or gcc is not installed"),
]

# The second node need not be there: what the kernel refuses is left undone, and everything else is done.
MAPPING = "version=1;cpus=0;homes=0;nodes=0,1;threads=contiguous;pages="
WAYS = {
    "idle": {},
    "broken": {"NUMAPLACE": "version=1;cpus=nonsense"},
    "bind": {"NUMAPLACE": "version=1;cpus=0;homes=0;nodes=0;threads=contiguous;pages=bind"},
    "dataset": {"NUMAPLACE": MAPPING + "dataset;chunks=0"},
    "locality": {"NUMAPLACE": MAPPING + "locality;map={folder}/map;report={folder}/report"},
    "balance": {"NUMAPLACE": MAPPING.replace("cpus=0;homes=0", "cpus=0-1;homes=0,1") + "balance"},
    "profile": {"NUMAPLACE": MAPPING + "first-touch;profile={folder}/profile"},
}

SCRIPT = r"""
set -u
for word in one two three; do echo "$word" | tr a-z A-Z; done
cat <(echo here) <<<there
(exit 7); echo "left with $?"
{ bash -c 'kill -SEGV $$'; } 2>/dev/null; echo "killed: $?"
trap 'echo trapped' USR1; kill -USR1 $$
echo "$(seq 1 1000 | sort -rn | head -n 3)" >&2
exit 5
"""

NUMPY = """
import numpy as np, threading, subprocess
rng = np.random.default_rng(1)
a = rng.random((700, 700))
print(round(float(np.linalg.norm(a @ a.T)), 6), np.sort(rng.random(300000))[::60000].round(6).tolist())
blocks = [np.ones(50000) for _ in range(40)]
threads = [threading.Thread(target=lambda b=b: b.cumsum(out=b)) for b in blocks]
[t.start() for t in threads]; [t.join() for t in threads]
print(sum(float(b[-1]) for b in blocks), subprocess.run(["echo", "child"], capture_output=True).stdout)
"""

SCIKIT_LEARN = """
import numpy as np
from sklearn.cluster import KMeans
points = np.random.default_rng(2).random((4000, 3))
found = KMeans(5, n_init=2, random_state=3).fit(points)
print(sorted(np.bincount(found.labels_).tolist()), round(float(found.inertia_), 6))
"""

MAKEFILE = """all: $(addprefix out,1 2 3 4 5 6 7 8)
\t@cat $^
out%:
\t@echo made $* > $@
.PHONY: all
"""


FEW = pytest.mark.parametrize("way", ["dataset", "profile"], indirect=True)
"""For programs that the library treats as it does others: those of bash and of Python meet every way."""


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    name: str = request.param
    return {key: value.replace("{folder}", str(tmp_path)) for key, value in WAYS[name].items()}


def both(
    command: list[str], way: dict[str, str], prepare: Callable[[], Path] | None = None
) -> tuple[subprocess.CompletedProcess[bytes], subprocess.CompletedProcess[bytes]]:
    """Run a command without and with the library, each time in a folder made anew."""
    plain = _run(tuple(command), prepare()) if prepare else _alone(tuple(command))
    return plain, _run(tuple(command), prepare() if prepare else None, {"LD_PRELOAD": LIBRARY, **way})


@functools.cache
def _alone(command: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    """Run a command without the library, once for all ways."""
    return _run(command)


def _run(
    command: tuple[str, ...], folder: Path | None = None, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    # Sums of floating-point numbers depend on the number of threads, and the library chooses none here.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", **(variables or {})}
    return subprocess.run(
        command, capture_output=True, env=environment, cwd=folder, check=False, timeout=300, input=b"words\n"
    )


def same(command: list[str], way: dict[str, str], prepare: Callable[[], Path] | None = None) -> bytes:
    plain, placed = both(command, way, prepare)
    assert (placed.returncode, placed.stdout, placed.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    return plain.stdout


def test_bash(way: dict[str, str]) -> None:
    output = same(["bash", "-c", SCRIPT], way)
    assert b"left with 7" in output
    assert b"killed: 139" in output


@FEW
def test_make_in_parallel(way: dict[str, str], tmp_path: Path) -> None:
    def prepare() -> Path:
        folder = tmp_path / "made"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "Makefile").write_text(MAKEFILE)
        return folder

    assert same(["make", "-j", "4"], way, prepare).count(b"made") == 8


def test_children_of_a_plain_program_may_use_every_cpu(way: dict[str, str]) -> None:
    # The mapping of WAYS has one PU; bound there itself, make would hand that on to all that it starts.
    variables = {key: value.replace("cpus=0;homes=0;", "cpus=0-1;homes=0*2;") for key, value in way.items()}
    variables = {key: value.replace("chunks=0", "chunks=0*2") for key, value in variables.items()}
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core has one order only")
    assert same(["bash", "-c", "nproc; nproc"], variables) == same(["bash", "-c", "nproc; nproc"], {})


def test_python_with_numpy(way: dict[str, str]) -> None:
    assert b"child" in same([sys.executable, "-c", NUMPY], way)


@FEW
def test_a_runtime_that_an_extension_brings(way: dict[str, str]) -> None:
    assert same([sys.executable, "-c", SCIKIT_LEARN], way)


@FEW
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git(way: dict[str, str], tmp_path: Path) -> None:
    def prepare() -> Path:
        folder = tmp_path / "repository"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for number in range(30):
            (folder / f"file{number}").write_text(f"{number}\n" * 2000)
        return folder

    identity = "-c user.name=N -c user.email=n@example.org"
    dates = "GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'"
    script = (
        f"git init -q -b main && git add . && {dates} git {identity} commit -qm first && git gc -q && git fsck"
        " && git log --format=%H && git grep -c 7 | sort | tail -n 2"
    )
    assert len(same(["bash", "-c", script], way, prepare).splitlines()[0]) == 40


@FEW
def test_gcc_compiles_the_same_object(way: dict[str, str], tmp_path: Path) -> None:
    source = tmp_path / "source.c"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
    command = [GCC, "-O2", "-S", "-o", "-", str(source)]
    assert b"hello" in same(command, way)


@FEW
def test_a_mistake_in_a_program_is_reported_as_before(way: dict[str, str], tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text("int main(void) { return undeclared; }\n")
    plain, placed = both([GCC, str(source)], way)
    assert plain.returncode == placed.returncode == 1
    assert plain.stderr == placed.stderr


ENDS = {
    "exit": "exit(9);",
    "_exit": 'fputs("lost", stdout); _exit(9);',
    "abort": "abort();",
    "null": "*(volatile int *)0 = 1;",
    "raise": "raise(SIGTERM);",
    "stack": 'printf("%d\\n", deeper(1));',
    "thread exit": "pthread_exit(NULL);",
    "handler": "signal(SIGSEGV, handler); *(volatile int *)8 = 1;",
    "vfork": 'if (vfork() == 0) { execlp("echo", "echo", "from vfork", (char *)NULL); _exit(1); } wait(NULL); exit(4);',
    "exec": 'execlp("sh", "sh", "-c", "echo from exec; exit 6", (char *)NULL);',
    "dlopen": 'void *m = dlopen("libm.so.6", RTLD_NOW); printf("%d\\n", m && dlsym(m, "cos")); exit(2);',
    "alarm": "signal(SIGALRM, handler); ualarm(50000, 50000); pause(); exit(3);",
}
ENDING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void handler(int number) { char c = (char)('0' + number % 10); (void)!write(1, &c, 1); _exit(11); }
__attribute__((noinline)) static int deeper(int depth) {
    volatile char big[4096];
    big[0] = (char)depth;
    return deeper(depth + 1) + big[0];
}
static void *idle(void *nothing) { return nothing; }
int main(void) {
    (void)handler;
    (void)deeper;
    double *data = malloc(1 << 20);
    for (int i = 0; i < 1 << 17; i++)
        data[i] = i;
#pragma omp parallel for
    for (int i = 0; i < 1 << 17; i++)
        data[i] += 1;
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
    pthread_join(thread, NULL);
    printf("%g\n", data[100]);
    fflush(stdout);
    END
}
"""


@pytest.fixture(scope="module")
def enders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return a program for each way to end."""
    folder = tmp_path_factory.mktemp("ends")
    built = {}
    for number, (name, code) in enumerate(ENDS.items()):
        source = folder / f"end{number}.c"
        source.write_text(ENDING.replace("END\n", code + "\n"))
        built[name] = str(folder / f"end{number}")
        subprocess.run([GCC, "-w", "-O1", "-fopenmp", "-o", built[name], source], check=True)
    return built


@pytest.mark.parametrize(
    ("name", "way"),
    [*((name, way) for name in ENDS for way in ("locality", "profile")), *(("exec", way) for way in WAYS)],
    indirect=["way"],
)
def test_every_way_to_end(enders: dict[str, str], way: dict[str, str], name: str) -> None:
    assert b"101" in same([enders[name]], way)


@pytest.fixture(scope="module")
def touching(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the programs whose memory the kernel touches in calls."""
    folder = tmp_path_factory.mktemp("touching")
    built = {source: str(folder / source.removesuffix(".c")) for source in ("heap_calls.c", "fibers.c")}
    for source, program in built.items():
        path = Path(__file__).parent / "placement" / source
        subprocess.run([GCC, "-O1", "-fopenmp", "-o", program, path], check=True)
    return built


@pytest.mark.parametrize(
    ("source", "argument"),
    [("heap_calls.c", ""), ("fibers.c", "16384"), ("fibers.c", "65536"), ("fibers.c", "1048576")],
)
def test_the_kernel_never_meets_a_protected_page(
    way: dict[str, str], touching: dict[str, str], source: str, argument: str
) -> None:
    for _ in range(3):  # it is a matter of who comes first
        same([touching[source], argument], way)
