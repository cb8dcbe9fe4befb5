"""How good a model's advice is for held-out programs: what `numapredict evaluate` found, or what ships with a model."""

import importlib.resources
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.durable import reason_and_advice
from numapredict.collect.mapping import from_label
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.evaluation.evaluate import Evaluation, Evaluations
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import named_model, shipped_models
from numapredict.predictor.learning.scores import Score
from numapredict.predictor.learning.store import SIZE_LIMIT_BYTES


class HeldOutData(msgspec.Struct, frozen=True, kw_only=True):
    """The evaluation of a model's machine, and its ``file``, or the command that makes it."""

    file: str
    evaluation: Evaluation

    @property
    def scores(self) -> dict[str, Score]:
        """Return the scores by the way of choosing mappings, ours first."""
        return {Strategy.OURS: self.evaluation, **self.evaluation.baselines}


def held_out_data(path: Path, model: Model) -> HeldOutData:
    """Return the scores of a model's machine; InvalidInputError for a file without them."""
    try:
        found = msgspec.json.decode(read_bounded(path, SIZE_LIMIT_BYTES), type=Evaluations, dec_hook=from_label)
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {reason_and_advice(error)}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{path}: {error}; name a file that 'numapredict evaluate' saved") from error
    for evaluation in found.datasets:
        if _is_of(evaluation, model):
            return HeldOutData(file=str(path), evaluation=evaluation)
    named = ", ".join(f"{each.machine} over {each.default}" for each in found.datasets) or "nothing"
    raise InvalidInputError(
        f"{path} is of {named}, not of {model.machine} over {model.default} with this model's mappings and options: "
        "evaluate the dataset that the model was learned from"
    )


def shipped_data(name: str, model: Model) -> HeldOutData | None:
    """Return the scores that ship with the model of a name; None where there are none, or ``model`` is another."""
    file = importlib.resources.files("numapredict.models") / "evaluations" / f"{name}.json"
    if name not in shipped_models() or not file.is_file() or named_model(name).model != model:
        return None
    evaluation = msgspec.json.decode(file.read_bytes(), type=Evaluation, dec_hook=from_label)
    return HeldOutData(file=f"numapredict evaluate {name}", evaluation=evaluation)


def _is_of(evaluation: Evaluation, model: Model) -> bool:
    """Return whether an evaluation is of the model's training options and machine."""
    return (evaluation.machine, evaluation.modelled, evaluation.default, evaluation.mappings, evaluation.options) == (
        model.machine,
        model.modelled,
        model.default,
        len(model.clusters[0].ranked),
        model.options,
    )
