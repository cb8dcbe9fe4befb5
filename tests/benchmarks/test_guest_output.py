"""What a guest's script prints is found again by name."""

import subprocess

import pytest

from tests.benchmarks.guest_output import Lines, Parts, guest_errors, named, parts
from tests.guest.errors import GuestError, GuestTimeoutError


def test_lines_belong_to_the_name_before_them() -> None:
    assert parts("boot\n== one\n1\n2\n== none\n== one\n3\n") == [("one", ("1", "2")), ("none", ()), ("one", ("3",))]
    assert parts("") == []


def test_a_shell_prints_any_name() -> None:
    name = "next touch, the kernel's $HOME *"
    output = subprocess.run(["sh", "-c", named(name)], check=True, capture_output=True, text=True).stdout
    assert parts(output) == [(name, ())]


def test_lines_and_parts_are_given_as_soon_as_they_are_whole() -> None:
    lines: list[str] = []
    output = Lines(lines.append)
    assert output.write(b"one\ntw") == 6
    assert lines == ["one"]
    output.write(b"o\n")
    assert lines == ["one", "two"]
    found: list[tuple[str, tuple[str, ...]]] = []
    streamed = Parts(lambda name, rest: found.append((name, rest)))
    streamed.write(b"boot\n== one\n1\n")
    assert found == []
    streamed.write(b"== two\n2\n")
    assert found == [("one", ("1",))]
    streamed.end()
    assert found == [("one", ("1",)), ("two", ("2",))]


@pytest.mark.parametrize(("error", "code"), [(GuestError("no such"), 2), (GuestTimeoutError("late"), 124)])
def test_a_guests_error_is_one_line(error: GuestError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, guest_errors():
        raise error
    assert ended.value.code == code
    assert capsys.readouterr().err == f"guest: {error}\n"
