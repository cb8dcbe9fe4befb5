"""What the built parts ask of the system, read from their files: it is what the wheel's tag promises."""

import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from numapredict.native.library import PARTS

ROOT = Path(__file__).parents[2]
OLD_PARTS_OF_LIBC = {"libpthread.so.0", "libdl.so.2"}
"""Of glibc before 2.34; since then empty."""
CI = (ROOT / ".ci/run").read_text()
Version = tuple[int, ...]


def numbers(text: str) -> Version:
    return tuple(int(word) for word in re.findall(r"\d+", text))


TAG = numbers(re.findall(r"glibc=(\d+\.\d+)", CI)[0])


def needed_versions(file: Path) -> Iterator[str]:
    with file.open("rb") as opened:
        for section in ELFFile(opened).iter_sections():
            if isinstance(section, GNUVerNeedSection):
                for _, names in section.iter_versions():
                    yield from (name.name for name in names)


def needed_libraries(file: Path) -> set[str]:
    with file.open("rb") as opened:
        section = ELFFile(opened).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        return {tag.needed for tag in section.iter_tags("DT_NEEDED")}


@pytest.fixture
def installed_tag() -> Version:
    """Return the C library of the installed wheel's tag; skip where it was built for this computer alone."""
    found = importlib.metadata.distribution("numapredict")
    tags = re.findall(r"manylinux_(\d+_\d+)_x86_64", found.read_text("WHEEL") or "")
    if not tags or not str(PARTS["launcher"]()).startswith(str(found.locate_file("numapredict"))):
        pytest.skip("the parts were built for this computer alone; .ci/run builds the wheel for others")
    return numbers(tags[0])


@pytest.mark.native
def test_no_part_needs_a_newer_c_library_than_the_wheel_says(installed_tag: Version) -> None:
    needed = {
        name: max(numbers(version) for version in needed_versions(path()) if version.startswith("GLIBC_"))
        for name, path in PARTS.items()
    }
    assert installed_tag == TAG
    assert max(needed.values()) <= installed_tag


@pytest.mark.native
def test_only_programs_with_openmp_need_more_than_the_c_library() -> None:
    needed = {name: needed_libraries(path()) - OLD_PARTS_OF_LIBC for name, path in PARTS.items()}
    assert needed.pop("probe") == {"libc.so.6", "libgomp.so.1"}
    assert needed.pop("codelets") == {"libc.so.6", "libm.so.6", "libgomp.so.1"}
    assert needed.pop("applications") == {"libc.so.6", "libm.so.6", "libgomp.so.1"}
    assert set().union(*needed.values()) == {"libc.so.6"}


@pytest.mark.native
def test_codelets_run_with_the_libgomp_of_gcc_8() -> None:
    """Red Hat's 8 has it; schedule(runtime) alone calls functions of gcc 9's (GOMP_5.0)."""
    for name in ("probe", "codelets", "applications"):
        versions = [numbers(version) for version in needed_versions(PARTS[name]()) if version.startswith("GOMP_")]
        assert versions
        assert max(versions) <= (4, 5), name


def test_the_readme_promises_no_more_than_the_wheel_does() -> None:
    readme = (ROOT / "README.md").read_text()
    said = re.search(r"glibc (\d+\.\d+) or later", readme)
    assert said
    assert numbers(said[1]) == TAG
