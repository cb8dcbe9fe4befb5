"""`.packaging/install` on systems and in places where it cannot go on: one line says what is missing and what to do."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests import small_folders

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".packaging/install"
AGAIN = "then run .packaging/install again: it goes on where it stopped"
OFFLINE = ("unshare", "--net") if os.geteuid() == 0 else ("unshare", "--net", "--map-root-user")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with the script and as much of the sources as pip asks the network for."""
    folder = tmp_path / "checkout"
    shutil.copytree(SCRIPT.parent, folder / ".packaging")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("native", "collect", "predictor", "reports", "models", "training_data"):
        (folder / name).mkdir()
    return folder


def install(folder: Path, *words: str, before: tuple[str, ...] = (), **variables: str) -> tuple[int, list[str]]:
    """Return the exit code and the lines on standard error; packages are taken as there, and no emulator is built."""
    command = [*before, str(folder / ".packaging/install"), "--no-packages", "--no-tracer", *words]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


def as_system(text: str, folder: Path) -> tuple[str, ...]:
    """Return what runs a command on a system that names itself so."""
    (folder / "os-release").write_text(text)
    words = small_folders.namespace()
    return (*words, "sh", "-c", 'mount --bind "$0" /etc/os-release && exec "$@"', str(folder / "os-release"))


@pytest.mark.parametrize("text", ["ID=arch\n", 'ID=debian\nVERSION_ID="11"\n', ""])
def test_an_unknown_system_is_told_what_is_needed(checkout: Path, tmp_path: Path, text: str) -> None:
    done = subprocess.run(
        [*as_system(text, tmp_path), str(checkout / ".packaging/install")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    for word in ("Debian 12 or 13", "libnuma", "CMake", "Python 3.11", "--no-packages"):
        assert word in line
    assert not (checkout / ".venv").exists()


def test_without_root_it_says_what_is_missing(checkout: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("only root can become another user")
    other = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    if os.geteuid() != 0 and shutil.which("sudo"):
        pytest.skip("only root can become another user")
    system = as_system('ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n', tmp_path)
    for folder in (checkout, *checkout.parents):
        if folder.name.startswith(("pytest-", "popen-", "test_", "checkout")):
            folder.chmod(0o755)
    checkout.chmod(0o777)
    done = subprocess.run(
        [*system, *OFFLINE, *other, "sh", str(checkout / ".packaging/install"), "--tests", "--no-tracer"],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    first, *_, last = done.stderr.splitlines()
    assert first.startswith("install: not installed, since that needs root: ")
    assert "linux-tools-generic" in first  # a package of Ubuntu
    assert last.endswith(AGAIN)
    assert done.returncode == 1


def test_without_a_network_it_says_so_and_goes_on_later(checkout: Path) -> None:
    for _ in range(2):
        code, lines = install(checkout, before=OFFLINE)
        assert code == 1
        assert len(lines) == 2
        assert "no network" in lines[1]
        assert lines[1].endswith(AGAIN)


@pytest.mark.parametrize("folder", ["checkout", "TMPDIR"])
def test_a_full_disk_is_named(checkout: Path, tmp_path: Path, folder: str) -> None:
    place = checkout / ".venv" if folder == "checkout" else tmp_path / "full"
    variables = {} if folder == "checkout" else {"TMPDIR": str(place)}
    before = tuple(small_folders.inside(place, "full"))
    code, lines = install(checkout, before=before, **variables)
    assert code == 1
    assert (
        "the disk is full" in lines[-1] if folder == "checkout" else f"nothing can be written in {place}" in lines[-1]
    )
    assert lines[-1].endswith(AGAIN)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_in_one_line(checkout: Path, number: signal.Signals) -> None:
    command = [str(checkout / ".packaging/install"), "--no-packages", "--no-tracer"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        assert running.stderr is not None
        assert "installing numapredict" in running.stderr.readline()
        os.killpg(running.pid, number)
        rest = running.stderr.read().splitlines()
    assert running.returncode == 130
    assert rest == ["install: interrupted; run .packaging/install again: it goes on where it stopped"]


def test_an_unknown_option_is_named(checkout: Path) -> None:
    assert install(checkout, "--everything") == (
        2, ["install: '--everything' is no option; .packaging/install --help lists them"]
    )  # fmt: skip


def test_its_help_names_every_option(checkout: Path) -> None:
    done = subprocess.run([checkout / ".packaging/install", "--help"], capture_output=True, text=True, check=True)
    asked = {line.split(")")[0].strip() for line in SCRIPT.read_text().splitlines() if line.startswith("        --")}
    assert asked == {"--tests", "--gate", "--no-packages", "--no-tracer"}
    assert all(f"\n  {word} " in done.stdout for word in asked)
