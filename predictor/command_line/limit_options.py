"""The options that limit what is advised."""

import functools
from collections.abc import Callable
from typing import Any

import click

from numapredict.collect.page_policy import PAGE_POLICIES

_OPTIONS = (
    click.option(
        "--threads", multiple=True, type=click.IntRange(1), metavar="N", help="Advise N threads alone; repeatable."
    ),
    click.option(
        "--nodes",
        multiple=True,
        type=click.IntRange(1),
        metavar="N",
        help="Advise mappings whose threads and pages are on N nodes; repeatable.",
    ),
    click.option(
        "--page-policy",
        "page_policies",
        multiple=True,
        type=click.Choice(PAGE_POLICIES),
        help="Advise this page policy alone; repeatable.",
    ),
    click.option("--no-smt", is_flag=True, help="Advise no more than one thread a core."),
    click.option(
        "--only",
        type=click.Choice(["numactl"]),
        help="Advise what OMP_* and numactl can apply, without the preload library.",
    ),
)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; it gets them together as ``limits``, a Limits."""

    @functools.wraps(command)
    def gather(**options: Any) -> Any:  # noqa: ANN401 - click decides the types
        from numapredict.collect.limits import Limits

        limits = Limits(
            threads=options.pop("threads"),
            nodes=options.pop("nodes"),
            page_policies=options.pop("page_policies"),
            smt=not options.pop("no_smt"),
            library=options.pop("only") is None,
        )
        return command(limits=limits, **options)

    decorated: Callable[..., Any] = gather
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
