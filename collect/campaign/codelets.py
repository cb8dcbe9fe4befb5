"""The codelets as programs: those that numapredict-codelets lists, in the requested sizes and initialisations."""

import subprocess
from collections.abc import Sequence

import msgspec

from numapredict.collect.program import CODELETS, Program
from numapredict.native.errors import MissingNativePartError, UsageError
from numapredict.native.library import codelets_program

CAMPAIGN_SIZES = ("medium",)  # in both initialisations; with more sizes a campaign takes hours
INITIALISATIONS = ("serial", "parallel")


class Codelet(msgspec.Struct, frozen=True):
    """One codelet: ``sizes`` are pairs of a size's name and its working set in bytes."""

    name: str
    family: str
    summary: str
    sizes: dict[str, int]
    initialisations: tuple[str, ...]
    schedules: tuple[str, ...]


def codelets() -> tuple[Codelet, ...]:
    """Return the codelets that were built; raise MissingNativePartError where there are none."""
    program = codelets_program()
    try:
        listed = subprocess.run([str(program), "--list", "--json"], capture_output=True, check=True, timeout=30)
        return msgspec.json.decode(listed.stdout, type=tuple[Codelet, ...])
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        # A wheel uses the system's OpenMP runtime; the loader's own error line names a missing library.
        reason = said[-1] if said else str(error)
        advice = "install libgomp (package libgomp1 or libgomp)" if "libgomp" in reason else "install numapredict again"
        raise MissingNativePartError(f"{program.name} does not list its codelets ({reason}); {advice}") from None
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        raise MissingNativePartError(
            f"{program} does not list its codelets ({error}); install numapredict again"
        ) from None


def codelet_programs(
    names: Sequence[str] = (), sizes: Sequence[str] = CAMPAIGN_SIZES, initialisations: Sequence[str] = INITIALISATIONS
) -> tuple[Program, ...]:
    """Return a program for every codelet (or those named) in every requested size and initialisation.

    All variants of a codelet are one group: they are held out together.
    """
    known = {codelet.name: codelet for codelet in codelets()}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown codelet {name!r}: the codelets are {', '.join(known)}")
    chosen = [known[name] for name in names] if names else list(known.values())
    return tuple(
        Program(
            name=f"{codelet.name}.{size}.{initialisation}",
            command=(CODELETS, codelet.name, "--size", size, "--init", initialisation),
            group=codelet.name,
            summary=codelet.summary + variant_in_words(f"{size}.{initialisation}"),
        )
        for codelet in chosen
        for size in sizes
        if size in codelet.sizes
        for initialisation in initialisations
        if initialisation in codelet.initialisations
    )


def variant_in_words(variant: str) -> str:
    """Return how the summary of a codelet's variant ends, such as `medium.serial`."""
    return f" ({variant.replace('.', ', ')} initialisation)"


def codelets_in_words(found: Sequence[Codelet]) -> str:
    """Return a line for each codelet: its name, family, working set in medium size, and what it does."""
    lines = []
    for codelet in found:
        size_MB = codelet.sizes.get("medium", 0) / 1e6
        lines.append(f"{codelet.name:20} {codelet.family:19} {size_MB:5.1f} MB  {codelet.summary}")
    return "\n".join(lines)
