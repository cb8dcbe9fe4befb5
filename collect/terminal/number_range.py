"""The type of all options that take a number with a fraction."""

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A number between two bounds; click's own type lets nan pass, which is neither below nor above any bound."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """Return the number that a text means; what is no number or out of bounds is a BadParameter."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{number} is no number: name one up to {self.max:g}", param, ctx)
        return number
