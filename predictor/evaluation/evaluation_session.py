"""Runs an evaluation on datasets by name, reusing the folds of earlier ones, and saves the result."""

import hashlib
import shutil
import time
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import joblib
import msgspec

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.outliers import without_outliers
from numapredict.collect.data.similar_programs import similar_programs
from numapredict.collect.host.cache import cache_folder, has_room
from numapredict.collect.host.durable import write_whole
from numapredict.collect.mapping import AnyMapping, to_label
from numapredict.predictor.evaluation.evaluate import Evaluations, evaluate_held_out, together
from numapredict.predictor.evaluation.search_curve import Sources
from numapredict.predictor.evaluation.transfer import evaluate_transfer
from numapredict.predictor.learning.datasets import open_datasets, shipped_datasets
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.model_choice import data_folder
from numapredict.predictor.learning.options import THESIS, TrainingOptions
from numapredict.predictor.searching.prior import shipped_gains

KEPT_S = 30 * 24 * 3600
"""How long the folds of another version of the code are kept."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is evaluated: speedups over ``default``, and by the ``thesis``'s method or ours.

    Implausible times (outliers) are left out unless ``keep_outliers``. ``without_machine``: searches know only the
    shipped gains of other machines.
    """

    default: AnyMapping | None = None
    thesis: bool = False
    keep_outliers: bool = False
    without_machine: bool = False


OURS = Asked()


def evaluate_datasets(names: Sequence[str], asked: Asked = OURS, jobs: int = 1, fresh: bool = False) -> Evaluations:
    """Return the evaluation of datasets by their names or folders; folds run at most once, unless ``fresh``."""
    memory = fold_memory()
    if fresh:
        memory.clear(warn=False)
    different = different_datasets(names)
    opened, outliers = open_datasets(different), []
    if not asked.keep_outliers:
        opened, outliers = map(list, zip(*map(without_outliers, opened), strict=True))
    options = [_options(asked, dataset) for dataset in opened]
    evaluations = [
        msgspec.structs.replace(
            evaluate_held_out(dataset, options[number], jobs, memory, sources_for(dataset, asked.without_machine)),
            outliers=() if asked.keep_outliers else outliers[number],
            similar=similar_programs(dataset),
        )
        for number, dataset in enumerate(opened)
    ]
    return together(evaluations, evaluate_transfer(opened, options))


def _options(asked: Asked, dataset: Dataset) -> TrainingOptions:
    ours = options_of(asked.default, None, dataset)
    return THESIS.with_default(ours.default) if asked.thesis else ours


def sources_for(dataset: Dataset, without_machine: bool) -> Sources:
    """Return the shipped gains of other machines that a search may know, none where they cannot be carried over."""
    like_ours = dataset.topology is not None or dataset.counterparts is not None
    if not like_ours:
        return Sources(without_machine=without_machine)
    return Sources(
        tuple(each for each in shipped_gains(dataset.topology) if each.machine != dataset.machine), without_machine
    )


def save(evaluations: Evaluations, names: Sequence[str], output: Path | None = None) -> tuple[Path, str]:
    """Write the evaluation to a file and return its path and text. Raises UnwritableError."""
    different = different_datasets(names)
    title = "+".join(Path(name).name or "dataset" for name in different)[:80]
    if any(Path(name).exists() for name in different):  # folders of the same name may differ
        title += "-" + hashlib.sha256("\n".join(_identity(name) for name in different).encode()).hexdigest()[:8]
    path = output or data_folder() / "evaluations" / f"{title}.json"
    document = msgspec.json.format(msgspec.json.encode(evaluations, enc_hook=to_label))
    write_whole(path, document + b"\n", f"{path}: cannot save the evaluation")
    return path, document.decode()


def different_datasets(names: Sequence[str]) -> list[str]:
    """Return the names without those that mean a dataset named before."""
    return list({_identity(name): name for name in reversed(names)}.values())[::-1]


def _identity(name: str) -> str:
    return name if name in shipped_datasets() else str(Path(name).resolve())


def fold_memory() -> joblib.Memory:
    """Return the store of folds finished by this version of the code; others are deleted when a month old.

    Where the cache cannot be written, nothing is stored.
    """
    folder = cache_folder() / "folds"
    mine = folder / _version_of_the_code()
    if not has_room(mine, "cache of finished folds"):
        return joblib.Memory(None)
    if folder.is_dir():
        for other in folder.iterdir():
            if other != mine and time.time() - other.stat().st_mtime > KEPT_S:
                shutil.rmtree(other, ignore_errors=True)
    return joblib.Memory(mine, verbose=0)


@cache
def _version_of_the_code() -> str:
    """Return a digest of what a fold's result depends on in addition to its data: sources and library versions."""
    digest = hashlib.sha256()
    for folder in ("predictor", "collect"):
        for path in sorted((Path(__file__).parents[2] / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    for library in ("numpy", "scipy", "scikit-learn"):
        digest.update(version(library).encode())
    return digest.hexdigest()[:16]
