"""Options of all commands: one word for one thing, and the same name with the same meaning."""

from collections.abc import Iterator
from importlib.metadata import entry_points

import click

VALUES = {
    *("FILE", "FOLDER", "NAME", "NAME|FILE", "NAME|FOLDER", "LABEL", "COMMAND", "N", "RUNS", "SECONDS"),
    *("RUNS|SHARE|TIME", "SHARE", "TIME", "COL", "COL[,COL]", "COL=VALUE", "FOLDER|URL", "ADDRESS", "PATTERN"),
}
"""What help calls the value of an option, besides a choice of words."""

SHORT = {"-o": "--output", "-q": "--quiet", "-v": "--verbose"}

TO_A_FILE = {"run"}
"""Its standard output is the program's: JSON goes into the file of `-o` alone."""

NO_ANSWER = {"report page", "schema", "completion"}
"""What they make is no record: a page, a schema, a script."""


def commands() -> Iterator[tuple[str, click.Command]]:
    def below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group):
            yield name, command
            return
        context = click.Context(command)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from below(f"{name} {each}", found)

    for entry in sorted(entry_points(group="numapredict.commands"), key=lambda one: one.name):
        yield from below(entry.name, entry.load())


def shown_options(command: click.Command) -> list[click.Option]:
    given = command.get_params(click.Context(command))
    return [one for one in given if isinstance(one, click.Option) and not one.hidden]


EVERY = dict(commands())


def test_values_of_options_have_the_same_words_everywhere() -> None:
    for name, command in EVERY.items():
        for option in shown_options(command):
            where = f"{name} {option.opts[0]}"
            assert option.help, where
            assert "may be repeated" not in option.help, where
            assert not option.multiple or "repeatable" in option.help or option.name in ("initialisations",), where
            if not option.is_flag and not isinstance(option.type, click.Choice):
                assert option.make_metavar(click.Context(command)) in VALUES, where


def test_no_option_takes_nan_or_infinity_for_a_number() -> None:
    taken = []
    for name, command in EVERY.items():
        for option in (one for one in command.params if isinstance(one.type, click.types.FloatParamType)):
            for word in ("nan", "inf", "-inf"):
                try:
                    option.type.convert(word, option, None)
                except click.BadParameter:
                    continue
                taken.append(f"{name} {option.opts[0]} {word}")
    assert taken == []


def test_output_is_a_file_into_is_a_folder_and_json_a_flag() -> None:
    for name, command in EVERY.items():
        options = {word: one for one in shown_options(command) for word in one.opts}
        for short, long in SHORT.items():
            assert (short in options) == (long in options), name
        words = {
            long: options[long].make_metavar(click.Context(command))
            for long in ("--output", "--into")
            if long in options
        }
        assert words.get("--output", "FILE") == "FILE", name
        assert words.get("--into", "FOLDER") == "FOLDER", name
        if name in TO_A_FILE:
            assert "--json" not in options, name
            assert "--output" in options, name
        elif name not in NO_ANSWER:
            assert options["--json"].is_flag, name
        if "--budget" in options:
            assert name == "train"


def test_every_report_takes_an_output_and_its_dataset_by_position() -> None:
    for name, command in EVERY.items():
        if name.startswith("report "):
            assert "--output" in {word for one in shown_options(command) for word in one.opts}, name
            assert "--dataset" not in {word for one in shown_options(command) for word in one.opts}, name


def test_all_commands_are_seen() -> None:
    assert len(EVERY) > 25
    assert {"predict", "report pairs", "collect campaign"} <= set(EVERY)
