"""What provenance.cmake writes, by real CMake and real git, and how it is read."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.native.build_record import UNKNOWN, BuildRecord, build_record

PROVENANCE = Path(__file__).parents[3] / "native/provenance.cmake"


def git(folder: Path, *words: str) -> str:
    name = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", str(folder), *name, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def recorded(root: Path, file: Path) -> BuildRecord:
    said = (f"ROOT={root}", "COMPILER=GNU 12.2.0", f"RECORD={file}")
    subprocess.run(["cmake", *(word for text in said for word in ("-D", text)), "-P", str(PROVENANCE)], check=True)
    return build_record(file)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "a repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "file").write_text("one\n")
    git(folder, "add", "file")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_checkout_tells_its_commit(repository: Path, tmp_path: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "-a", "v9", "-m", "a tag is no commit")
    (repository / "not tracked").write_text("")
    assert recorded(repository, tmp_path / "record.json") == BuildRecord(commit, "GNU 12.2.0")


def test_changed_files_are_reported(repository: Path, tmp_path: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    (repository / "file").write_text("two\n")
    assert recorded(repository, tmp_path / "record.json").commit == f"{commit}-dirty"


def test_a_source_distribution_carries_its_commit_even_inside_a_repository(repository: Path, tmp_path: Path) -> None:
    native = repository / "unpacked/native"
    native.mkdir(parents=True)
    assert recorded(native.parent, tmp_path / "record.json").commit == UNKNOWN
    (native / "commit.txt").write_text(f"{'a1' * 20}\n")
    assert recorded(native.parent, tmp_path / "record.json").commit == "a1" * 20


@pytest.mark.parametrize("text", ["", "v1.2\n", '"}', "a1b2c3\n", "abcdef1-dirty-abcdef1-dirty-abcdef1-dirty-a\n"])
def test_what_is_no_commit_is_unknown(tmp_path: Path, text: str) -> None:
    (tmp_path / "native").mkdir()
    (tmp_path / "native/commit.txt").write_text(text)
    assert recorded(tmp_path, tmp_path / "record.json").commit == UNKNOWN


def test_a_checkout_does_not_believe_what_an_earlier_build_left(repository: Path, tmp_path: Path) -> None:
    """Making a source distribution leaves commit.txt in the checkout, and the checkout moves on."""
    (repository / "native").mkdir()
    (repository / "native/commit.txt").write_text(f"{'a1' * 20}\n")
    assert recorded(repository, tmp_path / "record.json").commit == git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("text", [None, b"", b"{}", b"[]", b"\xff", b'{"commit": 1}'])
def test_an_unreadable_record_is_unknown(tmp_path: Path, text: bytes | None) -> None:
    file = tmp_path / "record.json"
    if text is not None:
        file.write_bytes(text)
    assert build_record(file) == BuildRecord(UNKNOWN, UNKNOWN)


@pytest.mark.native
def test_this_build_has_a_record() -> None:
    record = build_record()
    assert record.commit == UNKNOWN or re.fullmatch("[0-9a-f]{40}(-dirty)?", record.commit)
    assert re.fullmatch(r"(GNU|Clang) [0-9.]+", record.compiler)
