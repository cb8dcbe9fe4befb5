"""The codelets as programs: those that numapredict-codelets lists, in the requested sizes and initialisations.

So are the applications of numapredict-applications. They are no codelets: they run only where they are named, and their
groups say what they are.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.near_name import did_you_mean
from numapredict.collect.program import APPLICATIONS, CODELETS, Program
from numapredict.native.errors import MissingNativePartError, UsageError
from numapredict.native.library import applications_program, codelets_program

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
    return _listed_by(codelets_program())


def applications() -> tuple[Codelet, ...]:
    """Return the applications that were built; raise MissingNativePartError where there are none."""
    return _listed_by(applications_program())


def _listed_by(program: Path) -> tuple[Codelet, ...]:
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

    A name may be an application's, too. All variants of a codelet are one group: they are held out together.
    """
    known = {codelet.name: (CODELETS, "", codelet) for codelet in codelets()}
    chosen = list(known.values())
    if names:
        known |= {each.name: (APPLICATIONS, "application:", each) for each in applications()}
        for name in names:
            if name not in known:
                raise UsageError(
                    f"unknown codelet {name!r}{did_you_mean(name, known)}: the codelets are {', '.join(known)}"
                )
        chosen = [known[name] for name in names]
    return tuple(
        Program(
            name=f"{codelet.name}.{size}.{initialisation}",
            command=(command, codelet.name, "--size", size, "--init", initialisation),
            group=f"{kind}{codelet.name}",
            summary=codelet.summary + variant_in_words(f"{size}.{initialisation}"),
        )
        for command, kind, codelet in chosen
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
