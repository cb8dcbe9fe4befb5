"""An answer as an object: the mapping, its gain, the command, and how it shows in a notebook."""

from typing import Any

import msgspec

from numapredict.collect.mapping import Mapping, to_label
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import advice_in_words, is_measured
from numapredict.predictor.advising.brief_text import advice_in_brief, searched_in_brief
from numapredict.predictor.advising.searched import Searched
from numapredict.predictor.advising.searched_text import searched_in_words
from numapredict.predictor.advising.unknown import Unknown, unknown_in_words
from numapredict.predictor.api.notebook import notebook_table


class Answer:
    """What ``predict`` and ``search`` return; ``record`` has all of it, as ``--json`` prints it.

    >>> import numapredict
    >>> numapredict.Answer.from_json("[]")
    Traceback (most recent call last):
        ...
    ValueError: this is no answer of numapredict --json: ...
    """

    def __init__(self, record: Advice | Searched | Unknown) -> None:
        self.record = record

    @classmethod
    def from_json(cls, text: bytes | str) -> "Answer":
        """Return the answer that ``numapredict --json`` printed; ValueError for any other text."""
        return cls(_decoded(text))

    @property
    def mapping(self) -> Mapping | None:
        """Return the advised mapping; None for the program as it is now, and for no answer."""
        if isinstance(self.record, Unknown) or not isinstance(self.record.mapping, Mapping):
            return None
        return self.record.mapping

    @property
    def speedup(self) -> float | None:
        """Return the gain over the baseline as a ratio of times; None for no answer."""
        record = self.record
        if isinstance(record, Unknown):
            return None
        return record.expected_speedup.median if isinstance(record, Advice) else record.speedup

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 90% interval of the speedup; None for no answer."""
        record = self.record
        if isinstance(record, Unknown):
            return None
        if isinstance(record, Advice):
            return record.expected_speedup.low, record.expected_speedup.high
        return record.low, record.high

    @property
    def measured(self) -> bool:
        """Return whether the speedup is of runs that were made, on the machine or its model, and not predicted."""
        if isinstance(self.record, Unknown):
            return False
        return isinstance(self.record, Searched) or is_measured(self.record)

    @property
    def modelled(self) -> bool:
        """Return whether all times are those of a described machine's model."""
        return self.record.modelled

    @property
    def command(self) -> str | None:
        """Return the shell's command that applies the answer; None for no answer."""
        return None if isinstance(self.record, Unknown) else self.record.command

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, as ``--json`` prints it (``numapredict schema predict``)."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.record, enc_hook=to_label))
        return found

    def explain(self) -> str:
        """Return the whole answer in words, as ``--explain`` prints it."""
        if isinstance(self.record, Unknown):
            return unknown_in_words(self.record)
        return advice_in_words(self.record) if isinstance(self.record, Advice) else searched_in_words(self.record)

    def __str__(self) -> str:
        """Return the answer in three lines, as the command prints it."""
        if isinstance(self.record, Unknown):
            return unknown_in_words(self.record)
        return advice_in_brief(self.record) if isinstance(self.record, Advice) else searched_in_brief(self.record)

    def __repr__(self) -> str:
        speed = "" if self.speedup is None else f", {self.speedup:.2f}x"
        return f"<Answer {self.record.program!r}: {self.mapping or 'keep what you have'}{speed}>"

    def _repr_html_(self) -> str:
        """Return the answer as a table for a notebook."""
        record = self.record
        if isinstance(record, Unknown):
            return notebook_table(record.program, [("no answer", unknown_in_words(record))])
        low, high = self.interval or (1.0, 1.0)
        kind = ("modelled" if self.modelled else "measured") if self.measured else "expected"
        gain = f"{self.speedup:.2f}x ({low:.2f}x to {high:.2f}x), {kind}"
        where = f"{record.machine}{' (modelled)' if record.modelled else ''}"
        rows = [("best mapping", str(self.mapping or "keep what you have")), ("gain", gain)]
        return notebook_table(f"{record.program} on {where}", [*rows, ("to apply it", record.command)])


def _decoded(text: bytes | str) -> Advice | Searched | Unknown:
    from numapredict.collect.mapping import from_label

    try:
        kind = msgspec.json.decode(text, type=dict[str, Any]).get("answer")
        chosen: Any = {"unknown": Unknown, "searched": Searched}.get(str(kind), Advice)
        record: Advice | Searched | Unknown = msgspec.json.decode(text, type=chosen, dec_hook=from_label)
    except msgspec.MsgspecError as error:
        raise ValueError(f"this is no answer of numapredict --json: {error}") from None
    return record
