"""What the built parts ask of the system, read from their files: it is what the wheel's tag promises."""

import platform
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from numapredict.native.library import PARTS

ROOT = Path(__file__).parents[2]
CI = (ROOT / ".ci/run").read_text()
Version = tuple[int, ...]


def numbers(text: str) -> Version:
    return tuple(int(word) for word in re.findall(r"\d+", text))


TAG = numbers(re.findall(r"manylinux_(\d+_\d+)_x86_64", CI)[0])


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
def built_here() -> None:
    """Skip where the C library is newer than Debian 12's: its headers pick newer versions, as no release would."""
    if numbers(platform.libc_ver()[1]) > (2, 36):
        pytest.skip(f"built with glibc {platform.libc_ver()[1]}; a wheel for others is built on Debian 12")


@pytest.mark.native
@pytest.mark.usefixtures("built_here")
def test_no_part_needs_a_newer_c_library_than_the_wheel_says() -> None:
    needed = {
        name: max(numbers(version) for version in needed_versions(path()) if version.startswith("GLIBC_"))
        for name, path in PARTS.items()
    }
    assert max(needed.values()) == TAG, f"the tag in .ci/run is not what the parts need: {needed}"


@pytest.mark.native
def test_only_programs_with_openmp_need_more_than_the_c_library() -> None:
    needed = {name: needed_libraries(path()) for name, path in PARTS.items()}
    assert needed.pop("probe") == {"libc.so.6", "libgomp.so.1"}
    assert needed.pop("codelets") == {"libc.so.6", "libm.so.6", "libgomp.so.1"}
    assert needed.pop("applications") == {"libc.so.6", "libm.so.6", "libgomp.so.1"}
    assert set().union(*needed.values()) == {"libc.so.6"}


def test_the_readme_promises_no_more_than_the_wheel_does() -> None:
    readme = (ROOT / "README.md").read_text()
    said = re.search(r"glibc (\d+\.\d+) or later", readme)
    assert said
    assert numbers(said[1]) == TAG
