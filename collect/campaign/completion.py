"""Shell completion of option values and arguments: known names, and files.

Each function is a `shell_complete` of click. Files are left to the shell, which knows how to quote them; bash shows
them where no name begins as what was typed does, zsh and fish show both.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Literal

import click
from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter | None, str], list[CompletionItem]]


def files(_ctx: click.Context, _parameter: click.Parameter | None, incomplete: str) -> list[CompletionItem]:
    """Ask the shell for files: programs and what they read."""
    return [CompletionItem(incomplete, type="file")]


def named(names: Callable[[], Iterable[str]], also: Literal["file", "dir"] | None = None) -> Completion:
    """Return a completion that offers the names beginning with the typed text, and files or folders if allowed.

    ``names`` is called at completion time; if it fails no names are offered, since a shell cannot show an error there.
    """

    def offer(_ctx: click.Context, _parameter: click.Parameter | None, incomplete: str) -> list[CompletionItem]:
        from numapredict.native.errors import NumapredictError

        # The request for files comes first: click's script for bash drops what was listed before it.
        found = [CompletionItem(incomplete, type=also)] if also else []
        try:
            known = tuple(names())
        except (NumapredictError, OSError):
            return found
        return found + [CompletionItem(name) for name in known if name.startswith(incomplete)]

    return offer


def machines() -> tuple[str, ...]:
    """Return the described machines."""
    from numapredict.collect.modelled.description import machine_names

    return machine_names()


def codelets() -> tuple[str, ...]:
    """Return the codelets that were built."""
    from numapredict.collect.campaign.codelets import codelets as all_codelets

    return tuple(codelet.name for codelet in all_codelets())


def spaces() -> tuple[str, ...]:
    """Return the named sets of mappings."""
    from numapredict.collect.space import SPACES

    return SPACES


def labels(_ctx: click.Context, _parameter: click.Parameter | None, incomplete: str) -> list[CompletionItem]:
    """Return the ways to bind threads that begin with the typed text, and a whole label itself."""
    from numapredict.collect.binding import BINDINGS
    from numapredict.collect.mapping import parse_label
    from numapredict.native.errors import InvalidMappingError

    found = [CompletionItem(name) for name in BINDINGS if name.startswith(incomplete)]
    with contextlib.suppress(InvalidMappingError):
        parse_label(incomplete)
        found.append(CompletionItem(incomplete))
    return found
