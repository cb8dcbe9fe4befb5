"""Datasets by name: the shipped ones, and any folder."""

import importlib.resources
from collections.abc import Sequence
from pathlib import Path

from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.near_name import did_you_mean
from numapredict.collect.terminal.progress import follow
from numapredict.native.errors import InvalidInputError


def shipped_datasets() -> tuple[str, ...]:
    """Return the names of the shipped datasets."""
    folder = importlib.resources.files("numapredict.training_data")
    return tuple(sorted(entry.name for entry in folder.iterdir() if (entry / "dataset.json").is_file()))


def open_dataset(name: str) -> Dataset:
    """Return a shipped dataset by its name, or the dataset in a folder; InvalidInputError for neither."""
    if name in shipped_datasets():
        with importlib.resources.as_file(importlib.resources.files("numapredict.training_data") / name) as folder:
            return read_dataset(folder)
    if not Path(name).exists():
        raise InvalidInputError(
            f"no dataset {name!r}{did_you_mean(name, shipped_datasets())}: the shipped ones are "
            f"{', '.join(shipped_datasets()) or 'none'}; else name a folder"
        )
    return read_dataset(Path(name))


def open_datasets(names: Sequence[str]) -> list[Dataset]:
    """Return the datasets of different names, in their order."""
    return list(follow(map(open_dataset, names), len(names), "datasets read"))
