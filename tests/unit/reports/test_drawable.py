import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.reports.drawable import REPLACEMENT, drawable


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("stream-triad.medium.serial", "stream-triad.medium.serial"),
        ("", ""),
        ("$x^2$ \\foo _a_ <b> & 100%", "$x^2$ \\foo _a_ <b> & 100%"),
        ("日本語 😀 é", "日本語 😀 é"),
        ("\x1b[31mred\x07", f"{REPLACEMENT}[31mred{REPLACEMENT}"),
        ("nul\x00, line\ntwo\tthree\x85", f"nul{REPLACEMENT}, line{REPLACEMENT}two{REPLACEMENT}three{REPLACEMENT}"),
        ("\u202egnp.exe\u2066", f"{REPLACEMENT}gnp.exe{REPLACEMENT}"),
        ("a\u2028b\u2029c", f"a{REPLACEMENT}b{REPLACEMENT}c"),
        ("half \udc80, none \uffff", f"half {REPLACEMENT}, none {REPLACEMENT}"),
        ("1\u00a0234\u2009ms", "1 234 ms"),
    ],
)
def test_what_has_no_shape_is_seen_and_the_rest_stays(name: str, shown: str) -> None:
    assert drawable(name) == shown


def test_a_long_name_keeps_its_ends() -> None:
    name = "begin" + "x" * 300 + "tail7"
    assert drawable(name, 11) == "begin…tail7"
    assert drawable(name, 10) == "begin…ail7"
    assert drawable(name, 310) == name
    assert drawable(name, 309) == name[:154] + "…" + name[-154:]
    assert drawable(name, None) == name


@given(st.text(st.characters(codec=None), max_size=90), st.integers(1, 70))
def test_any_name_is_one_line_of_that_length_that_xml_can_hold(name: str, most: int) -> None:
    shown = drawable(name, most)
    assert len(shown) <= most
    assert shown.isprintable()
    shown.encode()
    assert drawable(shown, most) == shown
