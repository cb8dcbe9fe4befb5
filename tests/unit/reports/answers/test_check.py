import msgspec
import pytest

from numapredict.native.errors import UsageError
from numapredict.predictor.advising.confirmation import Confirmation
from numapredict.reports.answers.check import check, checked_in_words, checked_of
from tests.searches import LOCAL, Computer, answered, times

ADVICE = answered(Computer(times(8.0, local=4.0)))
FASTER = Confirmation(
    mapping=LOCAL, baseline_s=(8.0,), mapping_s=(5.0,), speedup=1.6, low=1.5, high=1.7, won=True, reason=""
)


@pytest.mark.parametrize(
    ("now", "verdict", "words"),
    [
        (FASTER, "holds", "has 1.60x (1.50 to 1.70) over as it is, 2.00x in the answer"),
        (msgspec.structs.replace(FASTER, speedup=1.0, low=0.9, high=1.1, won=False), "no longer", "; ask again: "),
        (
            msgspec.structs.replace(FASTER, speedup=None, reason="others disturbed it"),
            "unknown",
            "others disturbed it; ",
        ),
    ],
)
def test_each_verdict_says_what_was_measured(now: Confirmation, verdict: str, words: str) -> None:
    found = checked_of(ADVICE, ADVICE.program, now)
    assert found.verdict == verdict
    assert checked_in_words(found).startswith(f"{verdict}: ")
    assert words in checked_in_words(found)
    assert "note:" not in checked_in_words(found)
    other = checked_of(ADVICE, "./other", now)
    assert checked_in_words(other).endswith(f"note: the answer was on {ADVICE.program}, and this ran ./other")


def test_what_was_to_be_kept_has_nothing_to_check() -> None:
    with pytest.raises(UsageError, match="there is no mapping to check"):
        check(answered(Computer(times(8.0, local=9.0))), ("/bin/true",))
