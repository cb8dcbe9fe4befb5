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
    "--strict", is_flag=True, help="Refuse a program whose exit code is not 0, even if its parallel regions ran."
)
NO_SMT = click.option("--no-smt", is_flag=True, help="Leave out mappings with several threads on a core.")
_OPTIONS = (
    MACHINE,
    click.option(
        "--codelet",
        "codelets",
        multiple=True,
        metavar="NAME",
        shell_complete=named(codelets),
        help="Only this codelet, or application of numapredict-applications; repeatable.",
    ),
    click.option(
        "--size",
        "sizes",
        multiple=True,
        type=SIZES,
        help="Only this size (default: medium); repeatable. Tiny (1 to 2 MB) is for emulated machines.",
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
        "--regions-of",
        "region_files",
        multiple=True,
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="The answer of `regions -o FILE`: each region with 5% of the time as a program; repeatable.",
    ),
    click.option(
        "--cere",
        "cere_folders",
        multiple=True,
        type=FOLDER,
        metavar="FOLDER",
        help="A folder where CERE is configured; repeatable.",
    ),
    click.option(
        "--region",
        "regions",
        multiple=True,
        metavar="NAME",
        help="Only this region of CERE; repeatable (default: all with at least 1% of the time).",
    ),
    click.option(
        "--invocation",
        type=click.IntRange(1),
        metavar="N",
        default=1,
        show_default=True,
        help="The invocation of a region that CERE replays.",
    ),
    click.option(
        "--space",
        metavar="NAME",
        default="full",
        show_default=True,
        shell_complete=named(spaces),
        help="A named set of mappings: full, thesis, wang, ...",
    ),
    NO_SMT,
    click.option("--mapping", "labels", multiple=True, metavar="LABEL", help="Only this mapping; repeatable."),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        metavar="N",
        default=1,
        show_default=True,
        help="Processes at a time; modelled machines only.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on the workers of this Dask scheduler, in place of --jobs; modelled machines only (by the clock, "
        "many nodes collect with `collect campaign --shards`).",
    ),
    click.option(
        "--repetitions",
        type=click.IntRange(1),
        metavar="N",
        default=5,
        show_default=True,
        help="Timed runs of each program under each mapping; up to twice as many if times vary.",
    ),
    click.option("--retry-failed", is_flag=True, help="Repeat the runs that failed before."),
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
