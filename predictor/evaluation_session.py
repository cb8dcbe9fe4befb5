"""An evaluation at the edge: datasets by name, folds that earlier evaluations finished, and the saved result."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import joblib
import msgspec
import platformdirs

from numapredict.collect.durable import reason_and_advice, replace_file
from numapredict.collect.machines.trace_store import FOLDER_VARIABLE
from numapredict.native.errors import NumapredictError
from numapredict.predictor.across import evaluate_across
from numapredict.predictor.datasets import open_dataset
from numapredict.predictor.evaluate import Evaluations, evaluate_held_out, together
from numapredict.predictor.learning import options_of
from numapredict.predictor.model_choice import data_folder


class UnwritableEvaluationError(NumapredictError):
    """An evaluation could not be saved."""


def evaluate_datasets(
    names: Sequence[str], default: str | None = None, jobs: int = 1, fresh: bool = False
) -> Evaluations:
    """Return the evaluation of datasets by their names or folders; folds run at most once, unless ``fresh``."""
    memory = fold_memory()
    if fresh:
        memory.clear(warn=False)
    opened = [open_dataset(name) for name in dict.fromkeys(names)]
    options = [options_of(default, None, dataset) for dataset in opened]
    evaluations = [
        evaluate_held_out(dataset, each, jobs, memory) for dataset, each in zip(opened, options, strict=True)
    ]
    return together(evaluations, evaluate_across(opened, options))


def save(evaluations: Evaluations, names: Sequence[str], output: Path | None = None) -> tuple[Path, str]:
    """Write the evaluation to a file, and return which one and what is in it.

    Raises UnwritableEvaluationError.
    """
    title = "+".join(dict.fromkeys(Path(name).name or "dataset" for name in names))[:100]
    path = output or data_folder() / "evaluations" / f"{title}.json"
    document = msgspec.json.format(msgspec.json.encode(evaluations))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, document + b"\n")
    except OSError as error:
        raise UnwritableEvaluationError(f"{path}: cannot save the evaluation: {reason_and_advice(error)}") from error
    return path, document.decode()


def fold_memory() -> joblib.Memory:
    """Return where finished folds are kept: for this version of the predictor alone; those of others are removed."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("numapredict")) / "folds"
    mine = folder / _version_of_the_code()
    if folder.is_dir():
        for other in folder.iterdir():
            if other != mine:
                shutil.rmtree(other, ignore_errors=True)
    return joblib.Memory(mine, verbose=0)


@cache
def _version_of_the_code() -> str:
    """Return a digest of all that a fold's result can depend on here: the sources of this folder."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
