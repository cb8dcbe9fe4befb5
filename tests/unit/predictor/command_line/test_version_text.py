import platform
from pathlib import Path

import pytest

from numapredict.native.build_record import BuildRecord
from numapredict.native.errors import MissingNativePartError
from numapredict.native.library import PARTS
from numapredict.predictor.command_line.main import main
from numapredict.predictor.command_line.version_text import version_text


def missing() -> Path:
    raise MissingNativePartError("not built")


def test_what_is_there_and_what_is_missing_are_distinguished() -> None:
    text = version_text(BuildRecord("a1" * 20, "GNU 12.2.0"), {"placement": Path, "tracer": missing, "stream": Path})
    lines = text.splitlines()
    assert lines[1] == f"built from  commit {'a1' * 20}, by GNU 12.2.0"
    assert lines[2] == "native      placement, stream; not built: tracer"
    assert lines[3].startswith(f"Python      {platform.python_version()}, Linux ")


def test_a_tree_without_anything_built_says_so() -> None:
    assert "native      none; not built: tracer\n" in version_text(BuildRecord(), {"tracer": missing})
    assert "commit unknown, by unknown" in version_text(BuildRecord())


@pytest.mark.native
def test_this_installation_has_all_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert f"native      {', '.join(PARTS)}\n" in capsys.readouterr().out
