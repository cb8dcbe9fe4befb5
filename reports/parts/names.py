"""Names as a page's tables and headings have room for them."""

TABLE_LETTERS = 60
"""Letters of a name in a table; the whole name is its title, and stands where there is room."""

WHOLE_LETTERS = 300
"""Letters of a name where it may be several lines long."""


def shortened(text: str, most: int = TABLE_LETTERS) -> str:
    """Return a name of at most ``most`` letters, with an ellipsis in its middle where it was longer.

    Names of one family differ at their ends as often as at their beginnings.
    """
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"
