"""The commands make their manual pages, as a build does, and the pages' readers take them."""

import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement

from numapredict.predictor.command_line.command_tree import every_command
from numapredict.predictor.command_line.commands import EXIT_CODES, commands
from numapredict.predictor.command_line.man_page import escaped, pages, write_pages
from numapredict.predictor.command_line.registry import GROUP

ROOT = Path(__file__).parents[4]
# No page has a date: it would be another one whenever it was made.
ALLOWED = 'WARNING: missing date, using "": TH'


def built(folder: Path, project: Path) -> dict[str, str]:
    """Return the pages that a build makes: in a checkout, of the commands that a pyproject.toml registers."""
    words = [sys.executable, "-B", "-m", "numapredict.predictor.command_line.man_page", str(folder), str(project)]
    subprocess.run(words, check=True, timeout=120, cwd=ROOT / ".import" / "layers")
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_build_makes_a_page_of_every_command(tmp_path: Path) -> None:
    assert built(tmp_path / "man1", ROOT / "pyproject.toml") == pages()
    assert len(pages()) > 25


def test_a_build_asks_the_sources_which_commands_there_are(tmp_path: Path) -> None:
    """What another version registers, or another package, may be installed in the same environment."""
    project = tmp_path / "pyproject.toml"
    project.write_text(f'[project.entry-points."{GROUP}"]\ncensus = "numapredict.collect.cli:doctor"\n')
    made = built(tmp_path / "man1", project)
    assert set(made) == {"numapredict.1", "numapredict-census.1"}
    assert ".BR numapredict\\-census (1)\n" in made["numapredict.1"]


def test_a_build_needs_what_it_says_and_no_more() -> None:
    """The commands are loaded to make their pages; in a build there is nothing but what pyproject.toml asks for."""
    code = (
        "import sys, click\nfrom numapredict.predictor.command_line import man_page\nman_page.pages()\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    stated = (*project["project"]["dependencies"], *extras["learn"], *extras["figures"])
    wanted = {Requirement(text).name for text in stated}
    asked = {Requirement(text).name for text in project["build-system"]["requires"]}
    assert set(done.stdout.split()) & {*wanted, "sklearn", "elftools"} == asked - {"scikit-build-core"}


def test_every_command_has_a_page_with_all_its_options() -> None:
    made = pages()
    for words, ctx in every_command(click.Context(commands, info_name="numapredict")):
        page = made[f"numapredict-{words.replace(' ', '-')}.1"]
        for parameter in ctx.command.get_params(ctx):
            shown = isinstance(parameter, click.Option) and not parameter.hidden
            for option in parameter.opts if shown else ():
                assert escaped(option) in page
    assert "Interrupted" in made["numapredict.1"]


def test_every_page_has_exit_status_and_examples_and_says_something_of_everything() -> None:
    for name, page in pages().items():
        for code in EXIT_CODES:
            assert f"\n.TP\n\\fB{code}\\fR\n" in page.split(".SH EXIT STATUS")[1], name
        assert page.split(".SH EXAMPLES")[1].count(".TP") >= 1
        assert " RANGE" not in page
        assert "\n\n" not in page, name


def test_every_example_is_a_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").touch()
    (tmp_path / "application").mkdir()
    root = click.Context(commands, info_name="numapredict")
    for words, of in [("", root), *every_command(root)]:
        for example in of.command.examples:
            name, *given = shlex.split(example.split(" > ")[0])
            assert name == "numapredict"
            assert words in {"", "predict"} or given[: len(words.split())] == words.split()
            ctx = commands.make_context("numapredict", given)
            while isinstance(ctx.command, click.Group):
                _, command, rest = ctx.command.resolve_command(ctx, [*ctx._protected_args, *ctx.args])
                assert command is not None, example
                ctx = command.make_context(command.name, rest, parent=ctx)


def test_what_takes_json_says_which_record_it_prints() -> None:
    for words, ctx in every_command(click.Context(commands, info_name="numapredict")):
        takes_json = any("--json" in parameter.opts for parameter in ctx.command.params)
        answers = bool(getattr(ctx.command, "answers", ()))
        assert takes_json == (answers and words != "run"), words  # their output is the program's: -o


def test_nothing_in_a_text_is_a_request() -> None:
    assert escaped(".SH a\n'b\\c -d") == "\\&.SH a\n\\&'b\\ec \\-d"


@pytest.mark.parametrize(
    "reader", [("man", "--warnings", "-E", "UTF-8", "-l"), ("mandoc", "-T", "lint", "-W", "warning")]
)
def test_readers_find_nothing_wrong(reader: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which(reader[0]) is None:
        pytest.skip(f"{reader[0]} is not installed")
    write_pages(tmp_path)
    for path in sorted(tmp_path.glob("*.1")):
        done = subprocess.run([*reader, str(path)], capture_output=True, text=True, check=False, timeout=120)
        said = done.stdout if reader[0] == "mandoc" else done.stderr
        assert [line for line in said.splitlines() if ALLOWED not in line] == []
