"""A prediction: what `numapredict predict --json` printed."""

import msgspec

from numapredict.collect.mapping import parse_label
from numapredict.native.errors import NumapredictError
from numapredict.predictor.advice import WITHOUT_COUNTERS, Advice, mapping_in_words
from numapredict.predictor.model import ExpectedSpeedup


class InvalidPredictionError(NumapredictError):
    """A file is not what `numapredict predict --json` printed."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that an explanation says, and the numbers that it rests on, by name."""

    text: str
    evidence: dict[str, float] = {}

    @property
    def numbers(self) -> str:
        """Return the numbers in words, with the unit that a name ends with: `local_bandwidth_GBps`."""
        return ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in self.evidence.items())


class Close(msgspec.Struct, frozen=True):
    """A mapping that is expected to be nearly as good, and in what it differs from the answer."""

    mapping: str
    expected_speedup: ExpectedSpeedup
    differs: str


class Explanation(msgspec.Struct, frozen=True):
    """What the page shows of an explanation, if the record has one."""

    findings: tuple[Finding, ...] = ()
    close: tuple[Close, ...] = ()


class _Explained(msgspec.Struct, frozen=True):
    """The field of a prediction that older ones do not have."""

    explanation: Explanation | None = None


class PredictionData(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to show; ``why`` is None where the record has no explanation.

    ``measured`` is true where both mappings were probes, so that the speedup is what they measured.
    """

    advice: Advice
    words: str
    default_words: str
    judged: str
    measured: bool
    why: Explanation | None


def read_advice(data: bytes, where: str) -> tuple[Advice, Explanation | None]:
    """Return the advice in a file and its explanation, None where there is none; InvalidPredictionError otherwise."""
    try:
        advice = msgspec.json.decode(data, type=Advice)
        explanation = msgspec.json.decode(data, type=_Explained).explanation
        for label in (advice.mapping, advice.default):
            parse_label(label)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NumapredictError) as error:
        raise InvalidPredictionError(
            f"{where}: {error}; name a file with what 'numapredict predict --json' printed"
        ) from error
    return advice, explanation


def prediction_data(advice: Advice, explanation: Explanation | None = None) -> PredictionData:
    """Return the record that the page shows."""
    probes = {probe.mapping for probe in advice.probes}
    return PredictionData(
        advice=advice,
        words=mapping_in_words(parse_label(advice.mapping)),
        default_words=mapping_in_words(parse_label(advice.default)),
        judged=WITHOUT_COUNTERS.get(advice.judged_by, ""),
        measured=advice.mapping != advice.default and {advice.mapping, advice.default} == probes,
        why=explanation,
    )
