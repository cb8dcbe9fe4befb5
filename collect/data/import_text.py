"""How an imported table's rows were used, in words."""

from numapredict.collect.data.foreign_table import Tally
from numapredict.collect.data.outliers import outliers_in_words
from numapredict.collect.data.similar_programs import similar_in_words
from numapredict.collect.terminal.printable import counted, printable


def tally_in_words(tally: Tally) -> str:
    """Return one line, and one more where rows were merged that may not belong together."""
    left_out = (
        (tally.other, "not asked for"),
        (tally.suspect, "dropped as suspect"),
        (tally.missing, "without a time"),
        (tally.censored, "cut off"),
    )
    parts = [f"{count} {what}" for count, what in left_out if count]
    rows = counted(tally.rows, "row") + (f", of which {', '.join(parts)}" if parts else "")
    pairs = f"{counted(tally.programs, 'program')} x {counted(tally.mappings, 'mapping')}"
    holes = f", {tally.holes} of the {tally.programs * tally.mappings} pairs without a time" if tally.holes else ""
    repeated = f", {counted(tally.repeated, 'further repetition')}" if tally.repeated else ""
    text = f"{pairs}{holes}{repeated}; {rows}"
    if tally.varying:
        named = printable(", ".join(tally.varying))
        text += f"\nrows of one program and mapping differ in {named}: name it in --program, or pick one with --where"
    return text


def doubts_in_words(tally: Tally, dataset: str, default: str | None) -> list[str]:
    """Return a line each for what was left out as an outlier, and for programs that may be one code base."""
    found = [outliers_in_words(tally.outliers, dataset, default)] if tally.outliers else []
    return found + ([similar_in_words(tally.similar, dataset)] if tally.similar else [])
