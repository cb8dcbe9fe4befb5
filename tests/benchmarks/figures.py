"""What a benchmark found: named figures, each with its median and its range over the rounds."""

import statistics
from collections.abc import Sequence

import click
import msgspec


class Figure(msgspec.Struct, frozen=True):
    """One figure, measured once a round; ``goal`` says in words what it is held against."""

    name: str
    unit: str
    values: tuple[float, ...]
    goal: str = ""

    @property
    def median(self) -> float:
        """Return the median over the rounds."""
        return statistics.median(self.values)

    def in_words(self) -> str:
        """Return the line for a person: median, range and rounds."""
        unit = f" {self.unit}" if self.unit else ""
        goal = f"   goal: {self.goal}" if self.goal else ""
        between = f"{min(self.values):.4g} to {max(self.values):.4g} in {len(self.values)} rounds"
        return f"{self.name:46} {self.median:8.4g}{unit:7} ({between}){goal}"


def ratios(name: str, above: Sequence[float], below: Sequence[float], goal: str = "") -> Figure:
    """Return a figure of ratios round by round: what disturbs a computer for a while disturbs both sides of one."""
    return Figure(name, "times", tuple(a / b for a, b in zip(above, below, strict=True)), goal)


def show(figures: Sequence[Figure], *, as_json: bool) -> None:
    """Print the figures, for people or as one JSON array."""
    if as_json:
        listed = [{**msgspec.structs.asdict(figure), "median": figure.median} for figure in figures]
        click.echo(msgspec.json.format(msgspec.json.encode(listed)).decode())
        return
    for figure in figures:
        click.echo(figure.in_words())
