import pytest

from numapredict.collect.near_name import did_you_mean, near_name

KNOWN = ("sandybridge-4x8", "sapphirerapids-2x48", "sapphirerapids-8x12", "lpdquad")


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("sandybridge", "sandybridge-4x8"),
        ("SANDY", "sandybridge-4x8"),
        ("sapphirerapids", "sapphirerapids-2x48"),
        ("lpdqaud", "lpdquad"),
        ("nosuch", None),
        ("", None),
    ],
)
def test_a_name_is_near_that_begins_so_or_is_most_like_it(typed: str, near: str | None) -> None:
    assert near_name(typed, KNOWN) == near
    assert did_you_mean(typed, KNOWN) == (f" (did you mean {near}?)" if near else "")
