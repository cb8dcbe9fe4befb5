"""Names and lines of real programs, by DWARF 4 and 5 of gcc and clang: as addr2line has them, without a traceback."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.source import demangling
from numapredict.collect.source.modules import Modules
from numapredict.collect.source.place import Place
from tests.openmp import CLANG, GCC, GXX

ADDR2LINE, OBJCOPY = shutil.which("addr2line"), shutil.which("objcopy")
CLANGXX = shutil.which("clang++") or ""
pytestmark = pytest.mark.skipif(not (GCC and GXX and CLANG and ADDR2LINE and OBJCOPY), reason="no gcc or no clang")

PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace sim {
double table[1 << 14], *shared;
struct Grid {
    double *cells;
    explicit Grid(long n) {
        cells = new double[n];
    }
};
}
static double plain[1 << 14], *own;
static inline long twice(long n) { return 2 * n; }
__attribute__((noinline)) double *array(long n) {
    double *made = (double *)malloc(twice(n) * sizeof(double));
    made[0] = 1;
    return made;
}
int main(int argc, char **argv) {
    static double inner[1 << 14];
    long n = argc > 1 ? atol(argv[1]) : 1 << 14;
    double *a = (double *)malloc(n * 8), *b = (double *)malloc(n * 8);
    double *c = array(n);
    own = (double *)malloc(n * 8);
    sim::shared = (double *)malloc(n * 8);
    std::vector<double> v(n);
    sim::Grid grid(n);
#pragma omp parallel for schedule(static, 1)
    for (long i = 0; i < n; i++) {
        a[i] = b[i] = c[i] = v[i] + sim::table[i] + plain[i]++ + inner[i]++;
        grid.cells[i] = own[i] = sim::shared[i] = a[i];
    }
    std::printf("%f\n", a[5] + grid.cells[3]);
    return 0;
}
"""
KINDS = {
    "gcc": (GXX, "-O2"),
    "gcc, DWARF 4": (GXX, "-O2", "-gdwarf-4"),
    "gcc, not optimised": (GXX, "-O0"),
    "gcc, fixed addresses": (GXX, "-O2", "-no-pie"),
    "gcc, compressed": (GXX, "-O2", "-gz"),
    "clang": (CLANGXX, "-O2"),
    "clang, DWARF 4": (CLANGXX, "-O2", "-gdwarf-4"),
    "clang, not optimised, fixed addresses": (CLANGXX, "-O0", "-no-pie"),
}


def built(folder: Path, *words: str) -> Path:
    """Return the program, built in a folder of its own."""
    source, program = folder / "app.cpp", folder / "app"
    source.write_text(PROGRAM)
    subprocess.run([*words, *(() if "-g0" in words else ("-g",)), "-fopenmp", source, "-o", program], check=True)
    return program


def said(program: Path, addresses: list[int]) -> dict[int, list[tuple[str, str]]]:
    """Return addr2line's functions and lines of addresses, innermost first."""
    words = [str(ADDR2LINE), "-afi", "-e", str(program), *map(hex, addresses)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found: dict[int, list[tuple[str, str]]] = {}
    for block in re.split(r"^0x", text, flags=re.MULTILINE)[1:]:
        first, *lines = block.split("\n")
        pairs = zip(lines[::2], lines[1::2], strict=False)
        found[int(first, 16)] = [(name, re.sub(r" \(discr.*", "", where)) for name, where in pairs]
    return found


def calls(program: Path, callee: str) -> list[int]:
    """Return the addresses of the last bytes of the calls of a function, as profiles have them."""
    text = subprocess.run(["objdump", "-d", program], capture_output=True, text=True, check=True).stdout
    lines = text.split("\n")
    following = [lines[at + 1] for at, line in enumerate(lines) if re.search(rf"call.*<{callee}@plt>", line)]
    return [int(line.partition(":")[0], 16) - 1 for line in following]


def addresses_of(program: Path) -> list[int]:
    """Return the addresses of the program's own instructions, every third."""
    text = subprocess.run(["objdump", "-d", "-j", ".text", program], capture_output=True, text=True, check=True).stdout
    return [int(match[1], 16) for match in re.finditer(r"^ +([0-9a-f]+):\t", text, re.MULTILINE)][::3]


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_those_of_addr2line(kind: str, tmp_path: Path) -> None:
    program = built(tmp_path, *KINDS[kind])
    modules = Modules()
    seen = 0
    for address, expected in said(program, addresses_of(program)).items():
        found = modules.place(str(program), address)
        if expected[0][1].startswith("??") or expected[0][1].endswith("?"):
            continue  # of the start-up code, which has no lines
        lines = [f"{frame.line}" for frame in found.frames]  # addr2line 2.40 takes wrong files with DWARF 5
        there = [where.rpartition(":")[2] for _, where in expected]
        if "clang" in kind:  # nor does it know all that clang inlines
            lines, there = lines[:1], there[:1]
        assert lines == there, (hex(address), found, expected)
        seen += 1
    assert seen > 50


@pytest.mark.parametrize("kind", KINDS)
def test_variables_are_named_at_their_allocations(kind: str, tmp_path: Path) -> None:
    program = built(tmp_path, *KINDS[kind])
    modules = Modules()
    made = [modules.allocation(modules.place(str(program), call)) for call in calls(program, "malloc")]
    assert {one.name for one in made} == {"a", "b", "own", "sim::shared", None}
    (of_callers,) = [one for one in made if one.name is None]
    assert of_callers.through.startswith("array")
    new = [modules.allocation(modules.place(str(program), call)) for call in calls(program, "_Zn[aw]m")]
    optimised = {"v"} if "-O2" in KINDS[kind] else {None}  # not inlined, the vector's code has only its own lines
    assert {one.name for one in new} == {"cells", *optimised}


@pytest.mark.parametrize("kind", KINDS)
def test_static_objects_have_names_and_lines(kind: str, tmp_path: Path) -> None:
    program = built(tmp_path, *KINDS[kind])
    found = {declared.function: declared.line for _, declared in Modules().statics(str(program), 0, 1 << 40)}
    assert found == {"sim::table": 6, "plain": 14, "inner": 22}


def test_a_regions_body_is_seen_and_its_schedule_read(tmp_path: Path) -> None:
    for compiler in (GXX, CLANGXX):
        folder = tmp_path / Path(compiler).name
        folder.mkdir()
        program = built(folder, compiler, "-O2")
        modules = Modules()
        places = [modules.place(str(program), address) for address in addresses_of(program)]
        inside = [place for place in places if place.in_region and place.frame.line == 30]
        assert inside
        assert {modules.directive(place) for place in inside} == {"#pragma omp parallel for schedule(static, 1)"}
        assert not any(place.in_region for place in places if place.frame.function == "main")


def stripped(program: Path, *options: str) -> Path:
    other = program.with_name("stripped")
    subprocess.run([str(OBJCOPY), *options, program, other], check=True)
    return other


def test_separate_debug_files_are_found_by_link_and_by_build_id(tmp_path: Path) -> None:
    program = built(tmp_path, GXX, "-O2", "-Wl,--build-id")
    (call,) = [one for one in calls(program, "malloc") if Modules().place(str(program), one).frame.line == 17]
    debug = tmp_path / "app.debug"
    subprocess.run([str(OBJCOPY), "--only-keep-debug", program, debug], check=True)
    linked = stripped(program, "--strip-all", f"--add-gnu-debuglink={debug}")
    assert Modules().place(str(linked), call).text == "array, app.cpp:17"
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    identity = re.search(r"Build ID: ([0-9a-f]+)", notes)
    assert identity is not None
    place = tmp_path / "debug" / ".build-id" / identity[1][:2]
    place.mkdir(parents=True)
    debug.rename(place / f"{identity[1][2:]}.debug")
    assert "no debug information" in Modules().place(str(linked), call).doubt
    assert Modules(debug_folder=tmp_path / "debug").place(str(linked), call).text == "array, app.cpp:17"


def test_a_debug_file_of_another_build_is_not_believed(tmp_path: Path) -> None:
    program = built(tmp_path, GXX, "-O2", "-Wl,--build-id=none")
    call = calls(program, "malloc")[0]
    debug = tmp_path / "app.debug"
    subprocess.run([str(OBJCOPY), "--only-keep-debug", program, debug], check=True)
    linked = stripped(program, "--strip-all", f"--add-gnu-debuglink={debug}")
    assert Modules().place(str(linked), call).frame.known
    with debug.open("ab") as file:
        file.write(b"\0")
    assert not Modules().place(str(linked), call).frame.known


def test_without_debug_information_the_symbol_is_told_and_how_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = built(tmp_path, GXX, "-O2", "-g0")
    found = [modules.place(str(program), call) for modules in (Modules(),) for call in calls(program, "malloc")]
    assert {place.frame.function for place in found} == {"main", "array(long)"}
    assert {place.doubt for place in found} == {
        "app has no debug information: build it with -g for lines and names of variables"
    }
    demangling.demangled.cache_clear()
    monkeypatch.setattr(demangling.shutil, "which", lambda _: None)
    assert {Modules().place(str(program), call).frame.function for call in calls(program, "malloc")} == {
        "main",
        "_Z5arrayl",
    }
    demangling.demangled.cache_clear()
    bare = stripped(program, "--strip-all")
    place = Modules().place(str(bare), 0x1234)
    assert (place.text, place.frames) == ("stripped+0x1234", ())


def test_what_is_not_there_or_has_changed_is_said_in_one_line(tmp_path: Path) -> None:
    program = built(tmp_path, GXX, "-O2")
    ended_s = program.stat().st_mtime - 10
    (tmp_path / "text").write_text("no program\n" * 100)
    os.mkfifo(tmp_path / "pipe")
    doubts = {
        str(tmp_path / "missing"): "missing cannot be read: No such file or directory",
        str(tmp_path): f"{tmp_path.name} cannot be read: Is a directory",
        str(tmp_path / "pipe"): "pipe cannot be read: it is no regular file; pipes and devices are not read",
        str(tmp_path / "text"): "text is no whole ELF file",
        "": "made while the program ran: there is no file to look in",
        "a\0b": "a\0b cannot be read: embedded null byte",
    }
    for path, doubt in doubts.items():
        assert Modules().place(path, 0x1000) == Place(path, 0x1000, (), doubt)
    assert Modules(ended_s).place(str(program), 0x1200).doubt == "app has changed since the run: profile it again"
    assert Modules(ended_s + 60).place(str(program), calls(program, "malloc")[0]).frame.known


def test_a_source_younger_than_the_program_names_nothing(tmp_path: Path) -> None:
    program = built(tmp_path, GXX, "-O2")
    places = [Modules().place(str(program), call) for call in calls(program, "malloc")]
    assert {Modules().allocation(place).name for place in places} >= {"a", "b"}
    later_s = program.stat().st_mtime + 100
    os.utime(tmp_path / "app.cpp", (later_s, later_s))
    modules = Modules()
    names = {modules.allocation(modules.place(str(program), call)).name for call in calls(program, "malloc")}
    assert not names & {"a", "b"}  # two are declared in that line, and what is in it now is not known


@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_damage_leaves_things_unknown(kind: str, tmp_path: Path) -> None:
    program = built(tmp_path, *KINDS[kind])
    whole = program.read_bytes()
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    parts = re.findall(r"\.(debug_\w+|symtab|strtab) +\w+ +\w+ +(\w+) +(\w+)", sections)
    assert len(parts) > 6
    call = calls(program, "malloc")[0]
    unknown = 0
    for number in range(60):
        _, start, size = parts[number % len(parts)]
        data = bytearray(whole)
        at = int(start, 16) + number * 7919 % int(size, 16)
        data[at : at + 16] = bytes((number * 37 + n * 11) & 255 for n in range(16))
        (tmp_path / "damaged").write_bytes(data)
        modules = Modules()
        place = modules.place(str(tmp_path / "damaged"), call)
        modules.allocation(place)
        modules.statics(str(tmp_path / "damaged"), 0, 1 << 40)
        assert "\n" not in place.doubt
        unknown += not place.frame.known
    for size in (0, 10, 64, 1000, len(whole) // 2, len(whole) - 1):
        (tmp_path / "damaged").write_bytes(whole[:size])
        assert not Modules().place(str(tmp_path / "damaged"), call).frame.known or size == len(whole) - 1
    assert 0 < unknown < 60
