"""An answer as an object: the mapping, its gain, the command, and how it shows in a notebook."""

from typing import TYPE_CHECKING, Any

import msgspec

from numapredict.collect.mapping import Mapping
from numapredict.collect.placing.region_times import RegionTime
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import advice_in_words, to_apply
from numapredict.predictor.advising.brief_text import advice_in_brief, advice_rows, subject
from numapredict.predictor.advising.explanation import Choice
from numapredict.predictor.advising.search_run import SearchRun
from numapredict.predictor.advising.unknown import Unknown, unknown_in_words
from numapredict.predictor.api.frame import frame_of, plain_of
from numapredict.predictor.api.notebook import notebook_table

if TYPE_CHECKING:
    import pandas as pd


class Answer:
    """What ``predict`` and ``search`` return; ``record`` has all of it, as ``--json`` prints it.

    >>> import numapredict
    >>> numapredict.Answer.from_json("[]")
    Traceback (most recent call last):
        ...
    ValueError: this is no answer of numapredict --json: ...
    """

    def __init__(self, record: Advice | Unknown) -> None:
        self.record = record

    @classmethod
    def from_json(cls, text: bytes | str) -> "Answer":
        """Return the answer that ``numapredict --json`` printed; ValueError for any other text."""
        return cls(_decoded(text))

    @property
    def program(self) -> str:
        """Return the program's command line."""
        return self.record.program

    @property
    def machine(self) -> str:
        """Return the machine's name."""
        return self.record.machine

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what makes the answer doubtful, a sentence each."""
        return self.record.warnings

    @property
    def mapping(self) -> Mapping | None:
        """Return the advised mapping; None for the program as it is now, and for no answer."""
        if isinstance(self.record, Unknown) or not isinstance(self.record.mapping, Mapping):
            return None
        return self.record.mapping

    @property
    def speedup(self) -> float | None:
        """Return the gain of the whole run over the baseline as a ratio, 1 if that is kept; None for no answer."""
        return None if isinstance(self.record, Unknown) else self.record.speedup

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the least and the greatest speedup of the runs in turn, 90% of a modelled part; None for no answer."""
        return None if isinstance(self.record, Unknown) else (self.record.low, self.record.high)

    @property
    def region_speedup(self) -> float | None:
        """Return the gain of the parallel regions alone; None where they are not timed, and without a gain."""
        return None if isinstance(self.record, Unknown) else self.record.region_speedup

    @property
    def measured(self) -> bool:
        """Return whether the speedup is of runs that were made on this computer: not modelled."""
        return not isinstance(self.record, Unknown) and not self.record.modelled

    @property
    def modelled(self) -> bool:
        """Return whether all times are those of a described machine's model."""
        return self.record.modelled

    @property
    def command(self) -> str | None:
        """Return the shell's command that applies the answer; None for no answer."""
        return None if isinstance(self.record, Unknown) else self.record.command

    def runs(self) -> "pd.DataFrame":
        """Return a row a run of the search, in their order: `mapping`, `outcome`, `time_s`, `speedup` and so on.

        Seconds, and speedups over the baseline, of the whole run; those with `region_` of the parallel regions.
        """
        return frame_of(SearchRun, () if isinstance(self.record, Unknown) else self.record.runs)

    def choices(self) -> "pd.DataFrame":
        """Return a row a page policy of the advised team, and a row a number of threads, at its best.

        `part` is `pages` or `threads`, `words` the choice, `mapping` its label; `speedup` is over the baseline, from
        `low` to `high` with a probability of 90% where it did not run (`ran`). No rows for no answer.
        """
        return frame_of(Choice, () if isinstance(self.record, Unknown) else self.record.explanation.choices)

    def regions(self) -> "pd.DataFrame":
        """Return a row a parallel region and run, the baseline's and the fastest: `mapping`, `name`, `time_s`, `count`.

        No rows where regions are not timed.
        """
        import pandas as pd

        runs = () if isinstance(self.record, Unknown) else self.record.regions
        frames = [frame_of(RegionTime, each.times.regions, mapping=str(each.mapping)) for each in runs]
        return pd.concat(frames, ignore_index=True) if frames else frame_of(RegionTime, (), mapping="")

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, as ``--json`` prints it (``numapredict schema predict``)."""
        return plain_of(self.record)

    def explain(self) -> str:
        """Return the whole answer in words, as ``--explain`` prints it."""
        if isinstance(self.record, Unknown):
            return unknown_in_words(self.record)
        return advice_in_words(self.record)

    def __str__(self) -> str:
        """Return the answer in three lines, as the command prints it."""
        if isinstance(self.record, Unknown):
            return unknown_in_words(self.record)
        return advice_in_brief(self.record)

    def __repr__(self) -> str:
        kind = " (modelled)" if self.modelled else ""
        speed = "" if self.speedup is None else f", {self.speedup:.2f}x{kind}"
        return f"<Answer {self.record.program!r}: {self.mapping or 'keep what you have'}{speed}>"

    def _repr_html_(self) -> str:
        """Return the answer in brief as a table for a notebook: mapping, gain, doubts, and the command."""
        record = self.record
        if isinstance(record, Unknown):
            return notebook_table(record.program, [("no answer", unknown_in_words(record))])
        notes = [("" if number else "note", text) for number, text in enumerate(self.warnings)]
        command = (to_apply(record.modelled).strip(), record.command)
        return notebook_table(subject(record), [*advice_rows(record), *notes, command])


def _decoded(text: bytes | str) -> Advice | Unknown:
    from numapredict.collect.mapping import from_label

    try:
        kind = msgspec.json.decode(text, type=dict[str, Any]).get("answer")
        chosen: Any = Unknown if kind == "unknown" else Advice
        record: Advice | Unknown = msgspec.json.decode(text, type=chosen, dec_hook=from_label)
    except msgspec.MsgspecError as error:
        raise ValueError(f"this is no answer of numapredict --json: {error}") from None
    return record
