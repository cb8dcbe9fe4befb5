"""Measurements whose disturbances are not looked for: other tests use a test's computer, and are not what it is about.

``CODE`` starts the command so, for ``python -c``.
"""

import math
import os
import sys

import pytest

from numapredict.collect.measuring import disturbance

CODE = "from tests.unwatched import main; main()"


def look_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let others use as much of the computer as they like, in this process."""
    monkeypatch.setattr(disturbance, "OTHERS_PUS", math.inf)
    monkeypatch.setattr(disturbance, "STOLEN", math.inf)


def lead_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes find this module."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def main() -> None:
    """Run the command so, and end with its exit code."""
    from numapredict.predictor.command_line import main as command

    look_away(pytest.MonkeyPatch())
    sys.exit(command.main())
