"""What became of an imported table's rows, in words."""

from numapredict.collect.foreign_table import Tally


def tally_in_words(tally: Tally) -> str:
    """Return one line, and one more where rows were taken together that may not belong so."""
    left_out = (
        (tally.other, "not asked for"),
        (tally.suspect, "dropped as suspect"),
        (tally.missing, "without a time"),
        (tally.censored, "cut off"),
    )
    parts = [f"{count} {what}" for count, what in left_out if count]
    rows = f"{tally.rows} rows" + (f", of which {', '.join(parts)}" if parts else "")
    pairs = f"{tally.programs} programs x {tally.mappings} mappings"
    holes = f", {tally.holes} of the {tally.programs * tally.mappings} pairs without a time" if tally.holes else ""
    repeated = f", {tally.repeated} further repetitions" if tally.repeated else ""
    text = f"{pairs}{holes}{repeated}; {rows}"
    if tally.varying:
        named = ", ".join(tally.varying)
        text += f"\nrows of one program and mapping differ in {named}: name it in --program, or pick one with --where"
    return text
