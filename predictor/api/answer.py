"""An answer: the mapping, what it gains, and the command that applies it."""

from dataclasses import dataclass
from typing import Any

import msgspec

from numapredict.collect.mapping import Mapping, to_label
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import advice_in_words, is_measured, to_apply
from numapredict.predictor.advising.brief_text import (
    advice_in_brief,
    advice_rows,
    searched_in_brief,
    searched_rows,
    subject,
)
from numapredict.predictor.advising.searched import Searched
from numapredict.predictor.advising.searched_text import searched_in_words
from numapredict.predictor.api.html import table


@dataclass(frozen=True)
class Answer:
    """What `predict` and `search` answer.

    ``record`` is all of it, as `numapredict schema predict` describes it. A notebook shows the mapping, its gain
    and the command.
    """

    record: Advice | Searched

    @property
    def program(self) -> str:
        """The program's command line."""
        return self.record.program

    @property
    def machine(self) -> str:
        """The machine's name."""
        return self.record.machine

    @property
    def modelled(self) -> bool:
        """Whether times and gains are modelled, of a described machine."""
        return self.record.modelled

    @property
    def mapping(self) -> Mapping | None:
        """The advised mapping; None if the program should stay as it is now, which has no mapping."""
        return self.record.mapping if isinstance(self.record.mapping, Mapping) else None

    @property
    def speedup(self) -> float:
        """The speedup over what the program gets today; 1 where that is kept. ``clock`` says of what."""
        return self._speed()[0]

    @property
    def interval(self) -> tuple[float, float]:
        """The 90% interval of an expected speedup; of one that was measured in turn, the rounds' least and greatest."""
        return self._speed()[1:]

    @property
    def clock(self) -> str:
        """Whose time the speedup is of: ``regions``, the parallel regions, or ``process``, the whole run."""
        return self.record.clock

    @property
    def measured(self) -> bool:
        """Whether the speedup was measured on this computer: neither predicted nor modelled."""
        if isinstance(self.record, Searched):
            return not self.modelled
        return not self.modelled and (self.record.verification is not None or is_measured(self.record))

    @property
    def command(self) -> str:
        """The command line that applies the mapping, quoted for a shell."""
        return self.record.command

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the answer doubtful, a sentence each."""
        return self.record.warnings

    def explain(self) -> str:
        """Return the answer with its reasons, as `--explain` prints it."""
        found = self.record
        return searched_in_words(found) if isinstance(found, Searched) else advice_in_words(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the record that `--json` prints, of plain values."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.record, enc_hook=to_label))
        return found

    def _speed(self) -> tuple[float, float, float]:
        found = self.record
        if isinstance(found, Searched):
            return found.speedup, found.low, found.high
        tried = found.verification
        if tried is not None and tried.won and tried.speedup and tried.low and tried.high:
            return tried.speedup, tried.low, tried.high
        expected = found.expected_speedup
        return expected.median, expected.low, expected.high

    def __str__(self) -> str:
        """Return the answer in brief, as `numapredict predict` prints it."""
        found = self.record
        return searched_in_brief(found) if isinstance(found, Searched) else advice_in_brief(found)

    def _repr_html_(self) -> str:
        found = self.record
        rows = searched_rows(found) if isinstance(found, Searched) else advice_rows(found)
        notes = [("note" if number == 0 else "", text) for number, text in enumerate(self.warnings)]
        return table(subject(found), [*rows, *notes], (to_apply(found.modelled).strip(), found.command))
