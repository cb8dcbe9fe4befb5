"""The options that say what a search compares of its runs."""

import functools
from collections.abc import Callable
from typing import Any

import click

from numapredict.collect.terminal.number_range import NumberRange

_OPTIONS = (
    click.option(
        "--metric",
        metavar="PATTERN",
        help="Compare runs by a number that the program prints, in place of their time: the first group of the last "
        "match of this regular expression (Python's). Larger is better.",
    ),
    click.option(
        "--seconds",
        type=NumberRange(1, 86_400),
        metavar="N",
        help="For programs that do not end: end each run after N seconds, and compare the parallel regions that it "
        "completed a second, or the --metric.",
    ),
    click.option("--metric-smaller", is_flag=True, help="The smaller metric is better, as of latencies."),
)


def figure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; it gets them together as ``figure``, a Figure."""

    @functools.wraps(command)
    def gather(**options: Any) -> Any:  # noqa: ANN401 - click decides the types
        from numapredict.collect.figure import figure_of

        smaller, seconds = options.pop("metric_smaller"), options.pop("seconds")
        figure = figure_of(options.pop("metric"), smaller=smaller, seconds=seconds)
        return command(figure=figure, **options)

    decorated: Callable[..., Any] = gather
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
