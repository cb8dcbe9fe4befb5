"""Guests: the asked topology, the command's output and end, files, and one clear line where there is no guest."""

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.guest import facts as facts_program
from tests.guest.cli import main
from tests.guest.errors import GuestError, GuestTimeoutError
from tests.guest.kernel import VARIABLE
from tests.guest.machine import Guest, GuestResult
from tests.guest.shape import Shape
from tests.guest.share import Share, groups_kept, running

SMALL = Shape(1, 1)
# Asymmetric, and the last node has memory alone.
DISTANCES = ((10, 16, 22, 40), (17, 10, 25, 41), (23, 26, 10, 42), (50, 51, 52, 10))
GET_FEATURES = struct.pack("<III", 1, 1, 0)  # the vhost-user protocol's first question: request, version, length
HOSTILE = ("", "two words", "'; touch \"$HOME\"/hole; echo '", "$(reboot)", "a\nb", "--", "ü*?", "\\")


@pytest.fixture(scope="module")
def result(guests: None, tmp_path_factory: pytest.TempPathFactory) -> GuestResult:
    shape = Shape(3, 2, 1, 256, DISTANCES)
    host_file = tmp_path_factory.mktemp("host") / "file"
    host_file.write_text("written by the host")
    command = [sys.executable, facts_program.__file__, *HOSTILE]
    folder = tmp_path_factory.mktemp("gu,e st")  # a comma, which the daemon's options are separated by
    environment = {"HOST_FILE": str(host_file), "ODD": "a'b c\n$HOME"}
    return Guest(shape, ["numa_balancing=disable"]).run(command, folder, environment)


@pytest.fixture(scope="module")
def facts(result: GuestResult) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((result.folder / "facts.json").read_bytes())
    return loaded


@pytest.fixture
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Afterwards no private folder is left, and no process that ran in one."""
    short = Path(tempfile.mkdtemp())  # a socket's path has at most 107 bytes
    monkeypatch.setattr(tempfile, "tempdir", str(short))
    yield
    assert list(short.iterdir()) == []
    short.rmdir()
    assert not {"virtiofsd", "qemu-system-x86", "setpriv", "unshare"} & _children()


def _children() -> set[str]:
    """Name this process's children, those of all its threads."""
    lists = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return {Path("/proc", child, "comm").read_text().strip() for children in lists for child in children}


def test_the_kernel_sees_the_asked_nodes(facts: dict[str, Any]) -> None:
    assert [node["cpus"] for node in facts["nodes"].values()] == ["0-1", "2-3", "4-5", ""]
    assert [tuple(node["distances"]) for node in facts["nodes"].values()] == list(DISTANCES)
    assert all(150 < node["memory_mb"] <= 256 for node in facts["nodes"].values())


def test_output_errors_and_exit_code_come_back_byte_for_byte(result: GuestResult) -> None:
    assert result.exit_code == 37
    assert result.stdout == bytes(range(256)) * 16 * 200 + b"and more"
    assert result.stderr == b"\xff\x00errors\r\n\x04"
    assert 0 < result.boot_s < result.total_s


def test_arguments_and_environment_arrive_as_they_are(facts: dict[str, Any], result: GuestResult) -> None:
    assert facts["arguments"] == list(HOSTILE)
    assert facts["environment"]["ODD"] == "a'b c\n$HOME"
    assert facts["environment"]["GUEST_FOLDER"] == str(result.folder)
    assert facts["environment"]["OMP_WAIT_POLICY"] == "passive"
    assert "PYTEST_CURRENT_TEST" not in facts["environment"]
    assert facts["cwd"] == str(Path.cwd())
    assert "numa_balancing=disable" in facts["kernel_options"].split()
    assert [path.name for path in result.folder.iterdir()] == ["facts.json"]


def test_the_host_is_readable_and_not_writable(facts: dict[str, Any]) -> None:
    assert facts["seen"] == "written by the host"
    assert facts["wrote_to_root"] == "Read-only file system"


def test_the_command_line_streams_and_exits_like_the_command(guests: None) -> None:
    # What is left in the background holds the output open, and must not hold up the end.
    script = "echo out; echo errors >&2; sleep 1000 & kill -KILL $$"
    command = [sys.executable, "-m", "tests.guest", "1x1", "--env", "A=b", "--", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, check=False, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (137, b"out\n", b"errors\n")


def test_a_panic_is_reported_in_one_line_with_the_console_after_it(
    guests: None, tmp_path: Path, nothing_left: None
) -> None:
    with pytest.raises(GuestError, match="while its command ran: Kernel panic") as caught:
        Guest(SMALL).run(["sh", "-c", "echo c >/proc/sysrq-trigger"], tmp_path)
    assert "sysrq triggered crash" in str(caught.value).splitlines()[0]
    assert len(str(caught.value).splitlines()) > 3


def test_a_guest_that_cannot_boot_is_reported(guests: None, tmp_path: Path, nothing_left: None) -> None:
    with pytest.raises(GuestError, match="before its command: Kernel panic"):
        Guest(SMALL, ["rdinit=/nothing"]).run(["true"], tmp_path)


def test_a_guest_whose_time_is_spent_is_stopped(guests: None, tmp_path: Path, nothing_left: None) -> None:
    with pytest.raises(GuestTimeoutError, match="stopped after 1 s, before its command"):
        Guest(SMALL).run(["true"], tmp_path, timeout_s=1)


def test_a_file_that_is_no_kernel_is_reported(
    guests: None, tmp_path: Path, nothing_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "vmlinuz"
    fake.write_bytes(b"no kernel" * 1000)
    monkeypatch.setenv(VARIABLE, str(fake))
    with pytest.raises(GuestError, match="before its command: qemu"):
        Guest(SMALL).run(["true"], tmp_path, timeout_s=60)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(GuestError, match="which is no file"):
        Guest(SMALL).run(["true"], tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("groups", [(), (65534, 100)])
def test_users_may_serve_a_folder_whatever_their_groups(
    guests: None, monkeypatch: pytest.MonkeyPatch, groups: tuple[int, ...]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    monkeypatch.setattr(os, "getgroups", lambda: list(groups))
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        os.chmod(folder, 0o755)  # noqa: S103 - the other user is to find the socket there
        listener.bind(f"{folder}/socket")
        listener.listen()
        command = Share("root", Path("/"), fixed=True).command(listener.fileno())
        own = {**os.environ, **groups_kept(Path(folder))}
        user: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": groups}
        with (
            socket.socket(socket.AF_UNIX) as client,
            running(command, env=own, pass_fds=[listener.fileno()], **user),
        ):
            listener.close()
            client.connect(f"{folder}/socket")
            client.sendall(GET_FEATURES)
            assert client.recv(4) == GET_FEATURES[:4]  # the daemon answers


@pytest.mark.parametrize("arguments", [["4x4"], ["4y4", "--", "true"], [], ["1x1", "--env", "A", "--", "true"]])
def test_a_mistake_gets_one_line_and_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
