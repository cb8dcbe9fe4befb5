import importlib.metadata
import sys
from pathlib import Path

import click
import pytest

from numapredict.predictor.command_line.registry import GROUP, load, registered


def distribution(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "entry_points.txt").write_text(text)
    (folder / name / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.partition('-')[0]}\nVersion: 1\n")


def by_importlib(group: str) -> dict[str, str]:
    return {entry.name: entry.value for entry in importlib.metadata.entry_points(group=group)}


def test_the_commands_are_those_that_importlib_finds() -> None:
    assert registered(GROUP) == by_importlib(GROUP)
    assert {"collect", "predict", "report", "run", "train"} <= set(registered(GROUP))


def test_another_distribution_registers_commands_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = f"[{GROUP}]\n# a comment\nmore = package.module:more\nspaced=package:a.b\n"
    text = f"[console_scripts]\nx = y:z\n\n{ours}[z]\nq = r\n"
    distribution(tmp_path, "other-1.0.dist-info", text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    assert registered(GROUP) == by_importlib(GROUP)
    assert registered(GROUP)["more"] == "package.module:more"


def test_the_first_installation_of_a_distribution_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, module in (("first", "new"), ("second", "old")):
        distribution(tmp_path / place, "Other_Name-1.0.dist-info", f"[{GROUP}]\n{module} = {module}:command\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second"), *sys.path])
    importlib.invalidate_caches()
    assert registered(GROUP) == by_importlib(GROUP)
    assert "new" in registered(GROUP)
    assert "old" not in registered(GROUP)


def test_damaged_metadata_and_paths_that_are_none_are_passed_over(tmp_path: Path) -> None:
    distribution(tmp_path, "good-1.egg-info", f"[{GROUP}]\none = a:b\n")
    distribution(tmp_path, "bad-1.dist-info", "")
    (tmp_path / "bad-1.dist-info" / "entry_points.txt").write_bytes(b"[\xff\xfe")
    (tmp_path / "file-1.dist-info").touch()
    assert registered(GROUP, [str(tmp_path), str(tmp_path / "nowhere"), str(tmp_path / "file-1.dist-info")]) == {
        "one": "a:b"
    }


def test_an_entry_point_is_loaded() -> None:
    assert isinstance(load("numapredict.collect.cli:topology"), click.Command)
    assert load("os:path.join [extra]") is __import__("os").path.join
    with pytest.raises(AttributeError):
        load("os:nothing")
