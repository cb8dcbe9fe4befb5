import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.fixed_teams import TeamFacts, team_facts
from tests.openmp import CLANG, GCC

pytestmark = pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed")

PLAIN = "int main(void) { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn++;\nreturn n > 99; }\n"
ASKS = "int omp_get_max_threads(void);\n" + PLAIN.replace("int n = 0;", "int n = -omp_get_max_threads();")
LOCAL = "static int own;\n#pragma omp threadprivate(own)\n" + PLAIN.replace("n++;", "n += own++;")


def facts(folder: Path, source: str, compiler: str) -> TeamFacts:
    program = folder / f"app-{Path(compiler).name}"
    command = [compiler, "-O1", "-fopenmp", "-x", "c", "-", "-o", program]
    subprocess.run(command, input=source, text=True, check=True)
    return team_facts([str(program), "/nowhere", "/bin", __file__])


@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_the_files_say_whether_a_smaller_team_is_safe(tmp_path: Path, compiler: str) -> None:
    keeps = compiler == CLANG
    assert facts(tmp_path, PLAIN, compiler) == TeamFacts(keeps_threads=keeps)
    asks = facts(tmp_path, ASKS, compiler)
    assert (asks.asks, asks.thread_local) == ("omp_get_max_threads", "")
    assert asks.reason.startswith(
        "it calls omp_get_max_threads and may count on so many threads in a region (--smaller"
    )
    local = facts(tmp_path, LOCAL, compiler)
    assert local.thread_local
    assert bool(local.reason) == (not keeps)
    assert TeamFacts().reason == ""
