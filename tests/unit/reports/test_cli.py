"""A report is a file of `reports/commands`: nothing else names it, and only the one that is asked for is loaded."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from numapredict.reports import commands
from numapredict.reports.cli import report

FILES = {path.stem for path in (Path(__file__).parents[3] / "reports" / "commands").glob("*.py")} - {"__init__"}


def loaded_by(*words: str) -> set[str]:
    """Return the modules that a command line loads in a process of its own."""
    code = (
        "import sys\nfrom numapredict.predictor.command_line.main import main\n"
        f"sys.exit(main({list(words)!r}) or print(*sys.modules, file=sys.stderr))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_every_file_has_the_command_of_its_name() -> None:
    ctx = click.Context(report, info_name="report")
    assert set(report.list_commands(ctx)) == FILES
    for name in FILES:
        command = report.get_command(ctx, name)
        assert command is not None
        assert command.name == name


def test_a_file_more_is_a_report_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "census.py").write_text(
        "import click\n\n@click.command()\ndef census():\n    'Count them.'\n    click.echo('seven')\n"
    )
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    assert "  census        Count them.\n" in CliRunner().invoke(report, ["--help"]).output
    assert CliRunner().invoke(report, ["census"]).output == "seven\n"


def test_only_the_report_that_is_asked_for_is_loaded() -> None:
    prefix = f"{commands.__name__}."
    assert {name for name in loaded_by("report", "pairs", "--help") if name.startswith(prefix)} == {f"{prefix}pairs"}


def test_help_on_reports_loads_no_library_that_computes_or_draws() -> None:
    heavy = {
        "numpy",
        "sklearn",
        "pandas",
        "scipy",
        "matplotlib",
        "seaborn",
        "jinja2",
        "pyarrow",
        "rich",
        "importlib.metadata",
    }
    assert not loaded_by("report", "--help") & heavy
