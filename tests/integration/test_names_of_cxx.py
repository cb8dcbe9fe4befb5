"""What users read of C++ names: shortened in text, whole in JSON, and never as the linker has them."""

import json
import subprocess
from pathlib import Path
from shutil import which

import pytest

from tests.command import numapredict

GXX = which("g++")

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GXX or not which("c++filt"), reason="no g++ or no c++filt"),
]

SOURCE = """
#include <cstdio>
#include <vector>
namespace sim {
template <class T, class F> void parallel_for(std::vector<T> &data, F body) {
#pragma omp parallel for
    for (unsigned long i = 0; i < data.size(); i++)
        body(data[i]);
}
}
int main() {
    std::vector<int> small(100);
    std::vector<double> large(1 << 22);
    sim::parallel_for(small, [](int &one) { one = 1; });
    sim::parallel_for(large, [](double &one) { one = 2; });
    std::printf("%f\\n", small[5] + large[5]);
}
"""


def built(folder: Path, option: str) -> Path:
    """Return the program, built so."""
    program = folder / "app"
    (folder / "app.cpp").write_text(SOURCE)
    subprocess.run([str(GXX), "-O1", option, "-fopenmp", "app.cpp", "-o", str(program)], cwd=folder, check=True)
    return program


@pytest.mark.parametrize("option", ["-g", "-s", "-g0"])
def test_regions_of_templates_are_told_apart_in_a_few_words(tmp_path: Path, option: str) -> None:
    program = built(tmp_path, option)
    done = numapredict(
        "run", "--mapping", "1x1-contiguous-first-touch", "--regions", "-o", "run.json", "--", str(program),
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done
    said = done.stderr + done.stdout
    assert "_Z" not in said
    regions = json.loads((tmp_path / "run.json").read_text())["processes"][0]["regions"]
    if option == "-s":
        assert all(region["name"].startswith("app+0x") for region in regions)
        return
    line = ", app.cpp:6 (app+0x" if option == "-g" else " (app+0x"
    for kind in ("int", "double"):
        assert f"  sim::parallel_for<{kind}, main::{{lambda(…)#" not in said  # the first difference is enough
        assert f"  sim::parallel_for<{kind}, …>(…){line}" in said
    assert all(
        region["name"].startswith("void sim::parallel_for<") and "std::vector<" in region["name"] for region in regions
    )
