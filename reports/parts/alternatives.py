"""What other tools can do without the preload library, in words."""

import msgspec

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.advising.advice import Advice, Alternative, expected_in_words
from numapredict.predictor.advising.searched import Searched
from numapredict.predictor.advising.searched_text import baseline_in_words


class AlternativeData(msgspec.Struct, frozen=True, kw_only=True):
    """One tool's command; ``near`` is what it applies if not the advised mapping, ``speed`` its speedup if known."""

    tool: str
    near: AnyMapping | None
    speed: str
    note: str
    cautions: tuple[str, ...]
    command: str


class AlternativesData(msgspec.Struct, frozen=True):
    """All tools' commands."""

    alternatives: tuple[AlternativeData, ...]


def alternatives_data(answer: Advice | Searched) -> AlternativesData:
    """Return the commands of an answer; a prediction's speedups are expected, a search's are of its runs."""
    return AlternativesData(tuple(_alternative(each, answer) for each in answer.alternatives))


def _alternative(each: Alternative, answer: Advice | Searched) -> AlternativeData:
    speed = ""
    if isinstance(answer, Searched) and each.mapping == answer.baseline:
        speed = "the baseline itself"
    elif each.expected_speedup is not None and isinstance(answer, Searched):
        speed = f"{each.expected_speedup.median:.2f}x over {baseline_in_words(answer)} in its run"
    elif each.expected_speedup is not None:
        speed = expected_in_words(each.expected_speedup).replace("expected", "expected over the default")
    return AlternativeData(
        tool=each.tool,
        near=None if each.exact else each.mapping,
        speed=speed,
        note=each.note,
        cautions=each.cautions,
        command=each.command,
    )
