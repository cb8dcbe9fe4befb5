import pytest

from numapredict.collect.figure import STEP, VALUE
from numapredict.collect.measuring import metric
from numapredict.collect.measuring.metric import metric_of
from numapredict.collect.placing.process import Ending

TABLE = "| model | test | t/s |\n| pp512 | 99.50 ± 0.05 |\n| tg128 | 12.34 ± 0.05 |\n"


def found(pattern: str, output: str | bytes, errors: str = "") -> tuple[dict[str, float], str]:
    data = output if isinstance(output, bytes) else output.encode()
    ending = Ending(1.0, 0, timed_out=False, last_line="", output=data, errors=errors.encode())
    readings, why = metric_of(pattern, ending)
    return dict(readings), why


def test_the_last_match_of_the_first_group_is_the_metric_and_its_last_digit_the_step() -> None:
    assert found(r"tg\d+ .* ([0-9.]+) ±", TABLE) == ({VALUE: 12.34, STEP: pytest.approx(0.01)}, "")
    assert found(r"([0-9.]+) (±)", TABLE)[0][VALUE] == 12.34
    assert found(r"^n=(\S+)$", "n=1.5e3\nxn=7\nn=2.5e3\n")[0] == {VALUE: 2500.0, STEP: pytest.approx(100.0)}
    assert found(r"a(\d)?", "a1 a2 a")[0][VALUE] == 2  # a match in which the group has no part is none


def test_standard_error_is_searched_where_standard_output_has_no_match() -> None:
    assert found(r"rate (\d+)", "rate 1", "rate 2")[0][VALUE] == 1
    assert found(r"rate (\d+)", "nothing", "rate 2")[0][VALUE] == 2


def test_bytes_that_are_no_text_and_patterns_of_any_letters_do_no_harm() -> None:
    assert found("\u00b1 (\\d+)", b"\xff\xfe \xc2\xb1 7 \xc2")[0][VALUE] == 7
    assert found("\udcff(\\d+)", b"\xff1")[1].startswith("--metric '\\udcff(")


@pytest.mark.parametrize("text", ["0", "-3", "nan", "inf", "1e999", "twelve", "", "a,5", "1_000", "1e1_0"])
def test_what_is_no_positive_finite_number_is_refused_in_one_line(text: str) -> None:
    readings, why = found("<(.*)>", f"<{text}>")
    assert readings == {}
    assert why == f"the metric '{text}' is no positive finite number; match one"


@pytest.mark.parametrize("text", ["1,234", "12,345.6", "1,5"])
def test_a_number_with_commas_is_refused_with_what_to_match(text: str) -> None:
    assert found("<(.*)>", f"<{text}>") == (
        {},
        f"the metric '{text}' is no positive finite number; match one without commas",
    )


def test_no_match_is_told_with_how_much_was_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found("x([0-9])", "y1")[1].startswith("--metric 'x([0-9])' matches nothing in its output; ")
    huge = b"x1\n" * 500
    monkeypatch.setattr(metric, "KEPT_BYTES", len(huge))
    assert "in the last 0 MiB of its output; " in found("z([0-9])", huge)[1]


def test_the_line_in_which_a_cut_output_begins_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric, "KEPT_BYTES", 6)
    assert "matches nothing" in found(r"^(\d+)$", "12\nabc")[1]  # of 312
    assert found(r"^(\d+)$", "3\n12\na")[0][VALUE] == 12


def test_a_pattern_that_takes_forever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric, "_SEARCH", metric._SEARCH.replace("(10, 10)", "(1, 1)"))
    assert "takes over 10 s to find in its output; write a simpler" in found("(a+)+$", "a" * 60 + "b")[1]
