"""The options that say what a campaign measures: the same for `collect campaign` and `train`."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from numapredict.collect.campaign.completion import codelets, files, machines, named, spaces

SIZES = click.Choice(["tiny", "small", "medium", "large"])
INITIALISATIONS = click.Choice(["serial", "parallel"])
FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)

MACHINE = click.option(
    "--machine",
    metavar="NAME",
    shell_complete=named(machines, "file"),
    help="A described machine, modelled (see `numapredict topology --list`), or a .toml file.",
)
STRICT = click.option(
    "--strict", is_flag=True, help="Refuse a program that ends with an exit code other than 0, though its regions ran."
)
NO_SMT = click.option("--no-smt", is_flag=True, help="Leave out mappings with several threads on a core.")
_OPTIONS = (
    MACHINE,
    click.option(
        "--codelet",
        "codelets",
        multiple=True,
        shell_complete=named(codelets),
        help="Only this codelet, or application of numapredict-applications; may be repeated.",
    ),
    click.option(
        "--size",
        "sizes",
        multiple=True,
        type=SIZES,
        help="This size, medium if none is given; may be repeated. Tiny (1 to 2 MB) is for emulated machines.",
    ),
    click.option("--init", "initialisations", multiple=True, type=INITIALISATIONS, help="Only this initialisation."),
    click.option(
        "--program",
        "commands",
        multiple=True,
        metavar="COMMAND",
        shell_complete=files,
        help="A program of yours, with arguments; repeatable.",
    ),
    click.option(
        "--cere", "cere_folders", multiple=True, type=FOLDER, help="A folder where CERE is configured; repeatable."
    ),
    click.option(
        "--region",
        "regions",
        multiple=True,
        help="Only this region of CERE; repeatable (default: all with at least 1% of the time).",
    ),
    click.option("--invocation", type=click.IntRange(1), default=1, show_default=True, help="Which one CERE replays."),
    click.option(
        "--space",
        default="full",
        show_default=True,
        shell_complete=named(spaces),
        help="A named set of mappings: full, thesis, wang, ...",
    ),
    NO_SMT,
    click.option("--mapping", "labels", multiple=True, metavar="LABEL", help="Only this mapping; may be repeated."),
    click.option(
        "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes; modelled machines only."
    ),
    click.option(
        "--repetitions",
        type=click.IntRange(1),
        default=5,
        show_default=True,
        help="Timed runs of each pair; up to twice as many if times vary.",
    ),
    click.option("--retry-failed", is_flag=True, help="Run again what failed before."),
    STRICT,
)

F = TypeVar("F", bound=Callable[..., Any])


def campaign_options(command: F) -> Callable[..., Any]:
    """Give a command these options; it gets them together as ``request``, a CampaignRequest."""

    @functools.wraps(command)
    def gather(**options: Any) -> Any:  # noqa: ANN401 - click decides the types
        from numapredict.collect.campaign.request import CampaignRequest

        request = CampaignRequest(**{name: options.pop(name) for name in CampaignRequest.__struct_fields__})
        return command(request=request, **options)

    decorated: Callable[..., Any] = gather
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
