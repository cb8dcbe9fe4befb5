import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.host.work_folder import OWNER, PREFIX, clear_leftovers, require_room, work_folder
from numapredict.native.errors import UnwritableError

MAKER = """
import sys, time
from numapredict.collect.host.work_folder import work_folder
with work_folder() as folder:
    (folder / "part").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def maker(parent: Path) -> tuple["subprocess.Popen[str]", Path]:
    """Start a process that makes a work folder and waits, and return the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(parent), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_there_meanwhile_and_gone_afterwards(parent: Path) -> None:
    with work_folder() as folder:
        assert folder.parent == parent
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text("x")
    assert list(parent.iterdir()) == []
    with pytest.raises(ZeroDivisionError), work_folder() as folder:
        raise ZeroDivisionError
    assert list(parent.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_is_not(parent: Path) -> None:
    with maker(parent)[0] as living, maker(parent)[0] as killed:
        assert len(list(parent.iterdir())) == 2
        killed.kill()
        assert killed.wait() == -signal.SIGKILL
        assert len(clear_leftovers(parent)) == 1
        assert len(list(parent.iterdir())) == 1
        assert clear_leftovers(parent) == ()
        living.kill()
        living.wait()
    assert len(clear_leftovers(parent)) == 1
    assert list(parent.iterdir()) == []


def test_the_next_process_clears_what_a_killed_one_left(parent: Path) -> None:
    with maker(parent)[0] as killed:
        killed.kill()
        killed.wait()
        with maker(parent)[0] as following:
            (left,) = parent.iterdir()  # the following one's
            assert (left / OWNER).exists()
            following.communicate("")
    assert list(parent.iterdir()) == []


def left(folder: Path) -> Path:
    """Make what a killed process leaves."""
    folder.mkdir()
    (folder / OWNER).touch()
    return folder


def test_only_what_is_surely_ours_is_removed(parent: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / OWNER).touch()
    (elsewhere / "kept").touch()
    (parent / f"{PREFIX}aaaaaaaa").symlink_to(elsewhere)  # a link to a folder that looks like one
    kept = [
        parent / f"{PREFIX}aaaaaaaa",
        left(parent / "numapredict-results"),
        left(parent / f"{PREFIX}bbbbbbbb.old"),
        parent / f"{PREFIX}cccccccc",
        parent / f"{PREFIX}dddddddd",
        parent / f"{PREFIX}eeeeeeee",
        parent / f"{PREFIX}ffffffff",
    ]
    kept[3].mkdir()
    (kept[3] / "file").touch()  # somebody's, without the maker's file
    kept[4].mkdir()
    (kept[4] / OWNER).symlink_to(elsewhere / OWNER)
    kept[5].touch()
    kept[6].mkdir()
    os.mkfifo(kept[6] / OWNER)
    gone = left(parent / f"{PREFIX}gggggggg")
    (gone / "link").symlink_to(elsewhere)
    assert clear_leftovers(parent) == (gone.name,)
    assert sorted(parent.iterdir()) == sorted(kept)
    assert (elsewhere / "kept").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_another_users_folder_stays(parent: Path) -> None:
    folder = left(parent / f"{PREFIX}aaaaaaaa")
    os.chown(folder, 65534, 65534)
    assert clear_leftovers(parent) == ()
    os.chown(folder, os.geteuid(), os.getegid())
    os.chown(folder / OWNER, 65534, 65534)
    assert clear_leftovers(parent) == ()
    os.chown(folder / OWNER, os.geteuid(), os.getegid())
    assert clear_leftovers(parent) == (folder.name,)


def test_a_locked_folder_stays(parent: Path) -> None:
    folder = left(parent / f"{PREFIX}aaaaaaaa")
    with (folder / OWNER).open("w") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        assert clear_leftovers(parent) == ()
    assert clear_leftovers(parent) == (folder.name,)


def test_an_empty_folder_was_left_before_it_was_locked(parent: Path) -> None:
    (parent / f"{PREFIX}aaaaaaaa").mkdir()
    assert clear_leftovers(parent) == (f"{PREFIX}aaaaaaaa",)


@pytest.mark.parametrize("name", ["nowhere", "file/inside"])
def test_a_folder_that_is_none_is_named_with_what_to_do(
    name: str, parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (parent / "file").touch()
    monkeypatch.setenv("TMPDIR", str(parent / name))
    with pytest.raises(UnwritableError) as error, work_folder():
        pass
    assert error.value.exit_code == 1
    assert str(error.value).startswith(f"cannot write temporary files in {parent / name}: No")
    assert "TMPDIR=FOLDER" in str(error.value)


def test_room_that_is_gone_is_asked_for_again(parent: Path) -> None:
    with work_folder() as folder:
        require_room(folder)
        assert sorted(path.name for path in folder.iterdir()) == [OWNER]
        os.rename(folder, parent / "away")
        with pytest.raises(UnwritableError, match="cannot write temporary files"):
            require_room(folder)
        os.rename(parent / "away", folder)
