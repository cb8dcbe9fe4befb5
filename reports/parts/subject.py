"""The subject of a page: a dataset, a model or an answer, by name or file."""

import re
import sys
from pathlib import Path

import msgspec

from numapredict.collect.data.dataset import DESCRIPTION_FILE, Dataset
from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.durable import reason_and_advice
from numapredict.collect.near_name import did_you_mean
from numapredict.collect.terminal.printable import command_line
from numapredict.native.errors import InvalidInputError, UsageError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import choose_model, named_model, shipped_models
from numapredict.predictor.learning.store import SIZE_LIMIT_BYTES, read_model
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.variables.variable import Variables
from numapredict.reports.parts.answer_file import read_answer
from numapredict.reports.parts.variables_answer import subject_of

STANDARD_INPUT = "-"


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The subject: a shipped name can be a dataset and a model, anything else is one of the five.

    ``origin`` says where the model is from.
    """

    name: str
    dataset: Dataset | None = None
    model: Model | None = None
    origin: str = ""
    advice: Advice | None = None
    variables: Variables | None = None
    replayed: ReplayedRegions | None = None


def open_subject(name: str) -> Subject:
    """Return the contents of a shipped name, a folder, a file or `-` (standard input).

    UsageError for an unknown name, InvalidInputError for contents that are malformed or cannot be drawn.
    """
    if name == STANDARD_INPUT:
        return _answer(sys.stdin.buffer.read(SIZE_LIMIT_BYTES), "standard input")
    if name in shipped_datasets() or name in shipped_models():
        chosen = named_model(name) if name in shipped_models() else None
        return Subject(
            name=name,
            dataset=open_dataset(name) if name in shipped_datasets() else None,
            model=chosen.model if chosen else None,
            origin=chosen.origin if chosen else "",
        )
    path = Path(name)
    if path.is_dir():
        return Subject(name=path.resolve().name or name, dataset=open_dataset(name))
    if path.name == DESCRIPTION_FILE and path.is_file():
        return open_subject(str(path.parent))
    if not path.exists():
        shipped = sorted({*shipped_datasets(), *shipped_models()})
        raise UsageError(
            f"no dataset, model or answer {name!r}{did_you_mean(name, shipped)}: the shipped ones are "
            f"{', '.join(shipped)}; else name a dataset's folder, a model's .json file, or a file with "
            "what 'numapredict predict --json' printed"
        )
    return _file(path)


def model_for(dataset: Dataset) -> Model | None:
    """Return the model of a dataset's machine, for its probes; None if there is none."""
    if dataset.topology is None:
        return None
    chosen = choose_model(dataset.machine, dataset.topology)
    fits = chosen is not None and chosen.model.topology.fingerprint == dataset.topology.fingerprint
    return chosen.model if chosen is not None and fits else None


def _file(path: Path) -> Subject:
    """Return the contents of a JSON file, recognised by its fields."""
    try:
        data = read_bounded(path, SIZE_LIMIT_BYTES)
        names = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {reason_and_advice(error)}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(
            f"{path} is neither a model nor an answer ({_one_line(error)}): name a model's .json file, or a file "
            "with what 'numapredict predict --json' printed"
        ) from error
    if "schema_version" in names or "clusters" in names:
        return Subject(name=path.stem, model=read_model(path), origin=str(path))
    return _answer(data, str(path))


def _answer(data: bytes, where: str) -> Subject:
    answer = read_answer(data, where)
    if isinstance(answer, Variables):
        return Subject(name=subject_of(answer), variables=answer)
    if isinstance(answer, ReplayedRegions):
        return Subject(name=command_line(answer.command), replayed=answer)
    return Subject(name=answer.program, advice=answer)


def _one_line(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error))[:200]
