from numapredict.predictor.advising.evidence import Evidence
from numapredict.reports.parts.prediction import WORDS, reading_in_words, readings_in_words
from numapredict.reports.parts.quantity import rate, seconds, size


def test_every_reading_has_words_of_its_own() -> None:
    numbers = {name for name in Evidence.__struct_fields__ if name not in ("nodes", "other")}
    assert numbers | {"low", "high"} == set(WORDS)
    assert len(set(WORDS.values())) == len(WORDS)
    assert not [words for words in WORDS.values() if "_" in words or "share" in words or "GBps" in words]


def test_readings_have_the_unit_that_suits_them() -> None:
    assert reading_in_words("home_share", 0.981).endswith("make: 98%")
    assert reading_in_words("reached_GBps", 12.34).endswith(": 12.3\u00a0GB/s")
    assert reading_in_words("low", 0.987).endswith(": 0.99x")
    assert reading_in_words("something_new", 1234.5) == "something new: 1.23e+03"
    assert readings_in_words({"speedup": 2.0, "default_local_share": 0.25}) == (
        "the other probe over the default: 2.00x; local accesses under the default: 25%"
    )


def test_numbers_stay_with_their_units() -> None:
    assert [seconds(time) for time in (12.34, 0.5, 2e-6)] == ["12.3\u00a0s", "500\u00a0ms", "2.00\u00a0us"]
    assert rate(5.304) == "5.30\u00a0GB/s"
    assert size(2**25) == "32\u00a0MiB"
