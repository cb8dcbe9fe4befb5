"""Adds datasets to a store, as `collect share` does."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.data.dataset_store import add


class SharedDataset(msgspec.Struct, frozen=True):
    """A dataset's folder, its name in the store, and whether it was added or had been there."""

    folder: str
    name: str
    added: bool


class Shared(msgspec.Struct, frozen=True):
    """What `collect share --json` prints."""

    store: str
    datasets: tuple[SharedDataset, ...]


def share_folders(folders: Sequence[Path], store: str) -> Shared:
    """Add each folder's dataset to the store; InvalidInputError for no dataset, UnwritableError where it refuses."""
    return Shared(store, tuple(SharedDataset(str(folder), *add(folder, store)) for folder in dict.fromkeys(folders)))


def shared_in_words(shared: Shared) -> str:
    """Return a line a dataset."""
    return "\n".join(f"{each.name}: {'added' if each.added else 'was there'}" for each in shared.datasets)
