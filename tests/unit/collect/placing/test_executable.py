import os
from pathlib import Path

import pytest

from numapredict.collect.placing.executable import executable_of
from numapredict.collect.program import Program
from numapredict.native.errors import UnrunnableProgramError


def find(name: str, directory: Path | None = None, path: str | None = None) -> str:
    environment = (("PATH", path),) if path is not None else ()
    folder = None if directory is None else str(directory)
    return executable_of(Program(name="p", command=(name,), environment=environment, directory=folder))


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_names_are_found_in_path_and_paths_are_taken_as_written(script: Path) -> None:
    assert Path(find("sh")).name == "sh"
    assert find(str(script)) == str(script)
    assert find("./script", directory=script.parent) == "./script"
    assert find("script", path=str(script.parent)) == str(script)


@pytest.mark.parametrize(
    ("content", "mode", "expected"),
    [
        (None, 0, "no such file; check the path"),
        (b"#!/bin/sh\n", 0o644, "is not executable; run chmod"),
        (b"echo hello\n", 0o755, "neither an ELF program nor a script with a #! line"),
        (b"", 0o755, "neither an ELF program nor a script with a #! line"),
    ],
)
def test_files_that_cannot_start_are_said(tmp_path: Path, content: bytes | None, mode: int, expected: str) -> None:
    path = tmp_path / "app"
    if content is not None:
        path.write_bytes(content)
        path.chmod(mode)
    with pytest.raises(UnrunnableProgramError, match=expected) as error:
        find(str(path))
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_folders_and_unknown_names_are_said(tmp_path: Path) -> None:
    with pytest.raises(UnrunnableProgramError, match="is a folder"):
        find(str(tmp_path))
    os.mkfifo(tmp_path / "pipe", 0o755)
    with pytest.raises(UnrunnableProgramError, match="pipe is no regular file; name a program"):
        find(str(tmp_path / "pipe"))
    with pytest.raises(UnrunnableProgramError, match=r"write \./no-such-app for one in this folder"):
        find("no-such-app")
    with pytest.raises(UnrunnableProgramError, match="no such program in PATH"):
        find("sh", path="/nowhere")
    with pytest.raises(UnrunnableProgramError, match="no such folder to run 'p' in"):
        find("/bin/sh", directory=tmp_path / "gone")
