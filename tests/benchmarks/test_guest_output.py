"""What a guest's script prints is found again by name."""

import subprocess

from tests.benchmarks.guest_output import named, parts


def test_lines_belong_to_the_name_before_them() -> None:
    assert parts("boot\n== one\n1\n2\n== none\n== one\n3\n") == [("one", ("1", "2")), ("none", ()), ("one", ("3",))]
    assert parts("") == []


def test_a_shell_prints_any_name() -> None:
    name = "next touch, the kernel's $HOME *"
    output = subprocess.run(["sh", "-c", named(name)], check=True, capture_output=True, text=True).stdout
    assert parts(output) == [(name, ())]
