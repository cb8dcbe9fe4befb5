"""The manual pages are those that the commands make, and their readers take them."""

import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from numapredict.predictor.command_line.command_tree import every_command
from numapredict.predictor.command_line.commands import EXIT_CODES, commands
from numapredict.predictor.command_line.examples import EXAMPLES
from numapredict.predictor.command_line.man_page import escaped, pages, write_pages

FOLDER = Path(__file__).parents[4] / "predictor" / "man"
# No page has a date: it would be another one whenever it was made.
ALLOWED = 'WARNING: missing date, using "": TH'


def test_the_pages_are_what_the_commands_make() -> None:
    made = pages()
    assert {path.name: path.read_text() for path in FOLDER.glob("*.1")} == made, (
        "an option or a help text has changed: python -m numapredict.predictor.command_line.man_page predictor/man"
    )


def test_every_command_has_a_page_with_all_its_options() -> None:
    made = pages()
    for words, ctx in every_command(click.Context(commands, info_name="numapredict")):
        page = made[f"numapredict-{words.replace(' ', '-')}.1"]
        for parameter in ctx.command.get_params(ctx):
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
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
    trees = [words for words, _ in every_command(click.Context(commands, info_name="numapredict"))]
    assert set(EXAMPLES) == {"", *trees}
    for words, examples in EXAMPLES.items():
        for example, _ in examples:
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
        assert takes_json == bool(getattr(ctx.command, "answers", ())), words


def test_nothing_in_a_text_is_a_request() -> None:
    assert escaped(".SH a\n'b\\c -d") == "\\&.SH a\n\\&'b\\ec \\-d"


def test_pages_of_commands_that_are_no_more_go(tmp_path: Path) -> None:
    (tmp_path / "numapredict-gone.1").write_text("")
    write_pages(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(pages())


@pytest.mark.parametrize(
    "reader", [("man", "--warnings", "-E", "UTF-8", "-l"), ("mandoc", "-T", "lint", "-W", "warning")]
)
def test_readers_find_nothing_wrong(reader: tuple[str, ...]) -> None:
    if shutil.which(reader[0]) is None:
        pytest.skip(f"{reader[0]} is not installed")
    for path in sorted(FOLDER.glob("*.1")):
        done = subprocess.run([*reader, str(path)], capture_output=True, text=True, check=False, timeout=120)
        said = done.stdout if reader[0] == "mandoc" else done.stderr
        assert [line for line in said.splitlines() if ALLOWED not in line] == []
