"""Options and arguments that had another name: for one version the old one works, with a line that says so."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

log = logging.getLogger(__name__)

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


class RenamedOption(click.Option):
    """An option that also answers to ``old``, its names of the last version, which help does not show."""

    def __init__(self, *words: Any, old: Sequence[str], **settings: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*words, **settings)
        self.old = tuple(old)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - a class that click keeps private
        """Add the option under its names and, apart from them, under the old ones."""
        super().add_to_parser(parser, ctx)
        for name in self.old:
            parser.add_option(obj=self, opts=[name], dest=f"{self.name} {name}", action="store", nargs=self.nargs)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the value, also one that stands behind an old name, with a line on that."""
        for name in self.old:
            if f"{self.name} {name}" in opts:
                _say(name, "/".join(self.opts))
                return opts[f"{self.name} {name}"], click.core.ParameterSource.COMMANDLINE
        return super().consume_value(ctx, opts)


def renamed(*words: str, old: Sequence[str], **settings: Any) -> Callable[[_Decorated], _Decorated]:  # noqa: ANN401
    """Return click's decorator of an option with old names."""
    return click.option(*words, cls=RenamedOption, old=old, **settings)


def argument_once_option(name: str, old: str, **settings: Any) -> Callable[[_Decorated], _Decorated]:  # noqa: ANN401
    """Return the decorator of a required argument that was the option ``old``, which still works."""
    key = f"{__name__}:{old}"

    def note(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None:
            _say(old, name.upper())
            ctx.meta[key] = value

    def given(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str:
        found = value if value is not None else ctx.meta.get(key)
        if found is None:
            raise click.MissingParameter(ctx=ctx, param=parameter)
        return str(found)

    def decorated(function: _Decorated) -> _Decorated:
        option = click.option(old, f"{name}_as_option", callback=note, is_eager=True, expose_value=False, hidden=True)
        return option(click.argument(name, required=False, callback=given, **settings)(function))

    return decorated


def _say(old: str, new: str) -> None:
    log.warning(f"{old} is now {new}; the next version will not have the old name")
