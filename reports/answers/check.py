"""Whether earlier advice still holds: the program runs as it is and under the advised mapping, in turn."""

import math
from functools import partial
from typing import Literal

import msgspec

from numapredict.collect.campaign.machine_choice import this_computer
from numapredict.collect.figure import Figure
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measuring.quiet import PATIENCE_S
from numapredict.collect.measuring.run_limit import UNLIMITED
from numapredict.collect.measuring.stopping_rule import StoppingRule
from numapredict.collect.placement import resolve
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import program_of
from numapredict.native.errors import InvalidMappingError, UsageError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.confirmation import CONFIRMING_ROUNDS, FURTHER_ROUNDS, Confirmation, confirm

Verdict = Literal["holds", "no longer", "unknown"]


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of advice, as `--json` prints it.

    ``program`` is what ran now, and ``answered_for`` what the answer was on. ``answered`` is the speedup of the answer
    and ``now`` what the runs of this check had, of the whole run or by the answer's metric. The verdict is ``unknown``
    where a run failed or others disturbed it: ``now.reason`` says so.
    """

    program: str
    answered_for: str
    mapping: AnyMapping
    figure: Figure
    answered: float
    verdict: Verdict
    now: Confirmation


def check(advice: Advice, command: tuple[str, ...]) -> Checked:
    """Run a program in three to five rounds; UsageError where the advice is none that can be run here."""
    if advice.keep or not isinstance(advice.mapping, Mapping):
        raise UsageError(
            f"the advice for {advice.program} was to keep it as it is: there is no mapping to check; ask again"
        )
    program = program_of(command)
    executable_of(program)
    rule = StoppingRule(least=1, most=1, redo=2, patience_s=PATIENCE_S)
    here = this_computer(rule, warm_up=0, timeout_s=math.inf, region_times=True)
    here.compare_by(advice.figure)
    try:
        resolve(advice.mapping, here.topology)
    except InvalidMappingError as error:
        raise UsageError(f"{error}: the advice is for {advice.machine}; ask here by numapredict {command[0]}") from None
    now = confirm(
        program.name,
        {
            AS_IT_IS: partial(here.run_as_it_is, program),
            advice.mapping: partial(here.run, program, advice.mapping, UNLIMITED),
        },
        CONFIRMING_ROUNDS,
        FURTHER_ROUNDS,
        advice.figure,
    )
    return checked_of(advice, program.name, now)


def checked_of(advice: Advice, program: str, now: Confirmation) -> Checked:
    """Return what the runs of a check of a program say of the advice."""
    verdict: Verdict = "unknown" if now.speedup is None else "holds" if now.won else "no longer"
    return Checked(
        program=program,
        answered_for=advice.program,
        mapping=advice.mapping,
        figure=advice.figure,
        answered=advice.speedup,
        verdict=verdict,
        now=now,
    )


def checked_in_words(found: Checked) -> str:
    """Return one line on the verdict, and one where the answer was on another command."""
    line = _verdict_in_words(found)
    if found.program == found.answered_for:
        return line
    return f"{line}\nnote: the answer was on {found.answered_for}, and this ran {found.program}"


def _verdict_in_words(found: Checked) -> str:
    now = found.now
    if now.speedup is None:
        return f"unknown: {now.reason}; {found.mapping} had {found.answered:.2f}x"
    said = f"{now.speedup:.2f}x ({now.low:.2f} to {now.high:.2f}) over as it is, {found.answered:.2f}x in the answer"
    if found.verdict == "holds":
        return f"holds: {found.mapping} has {said}"
    return f"no longer: {found.mapping} has {said}; ask again: numapredict predict --fresh {found.program}"
