"""The evaluations that ship with the models, for their pages: without the single programs."""

from pathlib import Path

import msgspec

from numapredict.collect.mapping import to_label
from numapredict.predictor.evaluation.evaluate import Evaluation

FOLDER = Path(__file__).parents[3] / "models/evaluations"


def file_of(machine: str) -> Path:
    """Return where a machine's evaluation ships."""
    return FOLDER / f"{machine}.json"


def shipped_form(evaluation: Evaluation) -> bytes:
    """Return the content of the file."""
    alone = msgspec.structs.replace(evaluation, held_out=())
    return msgspec.json.format(msgspec.json.encode(alone, enc_hook=to_label)) + b"\n"
