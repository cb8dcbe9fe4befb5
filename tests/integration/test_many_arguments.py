"""Regions with any number of shared variables, each of which clang passes as an argument of its own."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.region_times import read_region_times
from tests.preloaded import CLANG, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CLANG, reason="clang is not installed")]

CPU = min(os.sched_getaffinity(0))
COUNTS = (1, 4, 5, 16, 17, 64, 65, 256, 257, 258, 300, 1025)
THREADS = 3


def build(count: int, folder: Path) -> Path:
    """Compile a region in which every thread adds its number + 1 to each variable, with an aligned stack."""
    names = [f"v{n}" for n in range(count)]
    lines = [
        "#include <omp.h>",
        "#include <stdint.h>",
        "#include <stdio.h>",
        "int main(void) {",
        "long all = 0;",
        *(f"long {name} = {n};" for n, name in enumerate(names)),
        "for (int turn = 0; turn < 2; turn++) {",
        "#pragma omp parallel",
        "{",
        "const long more = omp_get_thread_num() + 1 + 1000000 * ((uintptr_t)__builtin_frame_address(0) % 16 != 0);",
        "#pragma omp critical",
        "{",
        *(f"{name} += more;" for name in names),
        "}",
        "}",
        "}",
        *(f"all += {name} * {n % 7};" for n, name in enumerate(names)),
        'printf("%ld\\n", all);',
        "return 0; }",
    ]
    source, program = folder / f"shared{count}.c", folder / f"shared{count}"
    source.write_text("\n".join(lines))
    options = ("-O1", "-fno-omit-frame-pointer", "-fopenmp", "-o", str(program))
    subprocess.run([CLANG, *options, str(source)], check=True)
    return program


@pytest.mark.parametrize("count", COUNTS)
def test_a_region_has_all_its_variables(count: int, tmp_path: Path) -> None:
    program = build(count, tmp_path)
    settings = f"cpus={CPU}*{THREADS};homes=0*{THREADS};threads=contiguous;pages=bind;nodes=0"
    environment = placed(f"{settings};report={tmp_path / 'report'}", THREADS)
    done = subprocess.run([program], env=environment, check=False, capture_output=True, text=True, timeout=240)
    expected = sum((n + 2 * sum(range(1, THREADS + 1))) * (n % 7) for n in range(count))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{expected}\n", "")
    times = read_region_times(tmp_path / "report")
    assert times is not None
    assert [(region.count, region.team) for region in times.regions] == [(2, THREADS)]
