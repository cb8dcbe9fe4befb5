import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.placing.elf import check_traceable, preload_obstacle
from numapredict.native.errors import UnrunnableProgramError

GCC = shutil.which("gcc") or ""
OWN = Path(sys.executable).resolve().read_bytes()[:4096]
START = OWN[:40] + bytes(8) + OWN[48:60] + bytes(4) + OWN[64:]
"""A dynamically linked program without its sections, which nothing needs in order to run it."""


def refusal(path: Path) -> str:
    with pytest.raises(UnrunnableProgramError) as error:
        check_traceable(path)
    message = str(error.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not GCC:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("elf")
    (folder / "app.c").write_text("int main(void) { return 0; }\n")
    for name, option in (("dynamic", "-pie"), ("fixed", "-no-pie"), ("static", "-static")):
        subprocess.run([GCC, option, "-o", folder / name, folder / "app.c"], check=True)
    return folder


def test_dynamically_linked_programs_can_be_traced(built: Path) -> None:
    check_traceable(built / "dynamic")
    check_traceable(built / "fixed")


def test_a_program_without_sections_can_be_traced(tmp_path: Path) -> None:
    (tmp_path / "app").write_bytes(START)
    check_traceable(tmp_path / "app")


def test_a_static_program_is_refused(built: Path) -> None:
    message = refusal(built / "static")
    assert "statically linked" in message
    assert "without -static" in message


def test_a_library_is_refused_rather_than_run(built: Path) -> None:
    subprocess.run([GCC, "-c", "-o", built / "app.o", built / "app.c"], check=True)
    refusal(built / "app.o")


def test_a_script_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\nexec ./app\n")
    assert "is a script" in refusal(tmp_path / "run.sh")


@pytest.mark.parametrize(("code", "name"), [(183, "EM_AARCH64"), (243, "EM_RISCV"), (3, "EM_386")])
def test_another_architecture_is_named(tmp_path: Path, code: int, name: str) -> None:
    (tmp_path / "app").write_bytes(START[:18] + code.to_bytes(2, "little") + START[20:])
    message = refusal(tmp_path / "app")
    assert name in message
    assert "x86-64" in message


@pytest.mark.parametrize("data", [b"", b"\x7f", b"\x7fELF", START[:40], START[:100], b"MZ" + bytes(100)])
def test_what_is_no_whole_program_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "app").write_bytes(data)
    assert "no whole ELF program" in refusal(tmp_path / "app")


def test_a_missing_file_or_folder_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "app")
    assert "cannot be read" in refusal(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_program_without_read_permission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "app").write_bytes(START)
    (tmp_path / "app").chmod(0o111)
    assert "needs read permission" in refusal(tmp_path / "app")


def test_the_system_s_refusal_to_open_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, mode: str = "r") -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert "cannot be read: Permission denied; a trace needs read permission" in refusal(tmp_path / "app")


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 255)), max_size=12), st.integers(4, len(START)))
def test_damaged_headers_are_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, int]], length: int
) -> None:
    data = bytearray(START)
    for at, value in damage:
        data[at] = value
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(data[:length])
    try:
        check_traceable(path)
    except UnrunnableProgramError as error:
        assert "\n" not in str(error)  # noqa: PT017 - not to be refused is as good


LIBRARY = Path(sys.executable).resolve()
"""Stands for the preload library: what counts is for which processor it is built."""


def test_dynamically_linked_programs_and_scripts_run_with_a_preloaded_library(built: Path, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    for path in (built / "dynamic", built / "fixed", tmp_path / "script", tmp_path / "absent"):
        assert preload_obstacle(path, LIBRARY) == ""


def test_what_runs_without_a_preloaded_library_is_reported(built: Path, tmp_path: Path) -> None:
    assert preload_obstacle(built / "static", LIBRARY) == "it is statically linked"
    foreign = tmp_path / "foreign"
    foreign.write_bytes(START[:18] + b"\xb7\0" + START[20:])  # EM_AARCH64
    assert "EM_AARCH64" in preload_obstacle(foreign, LIBRARY)


def test_damaged_programs_have_no_obstacle_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "app"
    for length in (0, 4, 16, 63, 64, 100, 700):
        path.write_bytes(OWN[:length])
        preload_obstacle(path, LIBRARY)


@given(st.lists(st.tuples(st.integers(0, 511), st.integers(0, 255)), min_size=1, max_size=8))
def test_any_damage_is_no_more_than_an_obstacle(damage: list[tuple[int, int]]) -> None:
    data = bytearray(START)
    for at, value in damage:
        data[at] = value
    path = Path(os.environ["NUMAPREDICT_CACHE"]) / "damaged"
    path.write_bytes(bytes(data))
    assert "\n" not in preload_obstacle(path, LIBRARY)


@pytest.mark.parametrize(("option", "name"), [("-fsanitize=address", "address"), ("-fsanitize=thread", "thread")])
def test_sanitizers_insist_on_being_first(built: Path, option: str, name: str) -> None:
    program = built / name
    if subprocess.run([GCC, option, "-o", program, built / "app.c"], capture_output=True, check=False).returncode:
        pytest.skip("the sanitizers are not installed")
    assert preload_obstacle(program, LIBRARY) == f"it is built with the {name} sanitizer"


def test_other_rights_are_detected_before_the_loader_drops_the_library(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "rights"
    program.write_bytes((built / "dynamic").read_bytes())
    program.chmod(0o4755)
    assert preload_obstacle(program, LIBRARY) == ""  # our own user's rights are no others
    monkeypatch.setattr(os, "getuid", lambda: program.stat().st_uid + 1)
    assert "other rights" in preload_obstacle(program, LIBRARY)
    program.chmod(0o755)
    assert preload_obstacle(program, LIBRARY) == ""
    monkeypatch.setattr(os, "listxattr", lambda _: ["security.capability"])
    assert "other rights" in preload_obstacle(program, LIBRARY)
