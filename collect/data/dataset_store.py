"""A store of datasets that many machines share: a folder, or a URL that fsspec knows, which only grows; no server.

Each dataset is a folder of the store, in the format of ``dataset``, named by machine and contents: ``NAME-DIGEST``,
where DIGEST is the SHA-256 of its ``dataset.json``, which has that of its measurements and says what the machine is.
Adding a dataset changes no other. Folders of other names, as ``collect merge --fleet`` makes them, are read, too. What
is half-written, damaged or foreign is named and left out; reading never runs code.
"""

import hashlib
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from numapredict.collect.data.dataset import (
    DESCRIPTION_FILE,
    MOST_BYTES,
    TABLE_FILE,
    Dataset,
    Heading,
    read_dataset,
    read_heading,
)
from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.host.durable import reason_and_advice, refused_as, replace_file, sync_folder
from numapredict.native.errors import InvalidInputError, NumapredictError, UnwritableError, UsageError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

MOST_DATASETS = 10_000
_BY_CONTENTS = re.compile(r"-(?P<digest>[0-9a-f]{64})$")


class LeftOut(msgspec.Struct, frozen=True):
    """What of a store was not read, and why, in a line."""

    path: str
    reason: str


class StoredDataset(msgspec.Struct, frozen=True):
    """A dataset in a store: the name of its folder, and its heading. ``shown`` is its address in messages."""

    name: str
    heading: Heading
    folder: Path
    shown: str

    def read(self) -> Dataset:
        """Return the dataset; InvalidInputError where its measurements cannot be read."""
        try:
            return read_dataset(self.folder)
        except InvalidInputError as error:
            # A copy of a URL's files is in a folder that is soon gone.
            raise InvalidInputError(str(error).replace(str(self.folder), self.shown)) from error


class Store(msgspec.Struct, frozen=True):
    """What a store holds: its datasets by the names of their folders, in that order, and what is left out."""

    datasets: tuple[StoredDataset, ...]
    left_out: tuple[LeftOut, ...]


def is_url(place: str) -> bool:
    """Return whether a place is for fsspec, and no folder."""
    return "://" in place or "::" in place


def check_place(place: str) -> None:
    """Raise UsageError for an empty place, which is a shell's unset variable and not the current folder."""
    if not place:
        raise UsageError("the store's name is empty: name a folder or URL")


@contextmanager
def opened_store(place: str) -> Iterator[Store]:
    """Give the datasets in a store, or of a place that is one: a hundred machines' measurements are read one by one.

    InvalidInputError where it cannot be read or has none; UsageError for a URL without fsspec.
    """
    check_place(place)
    if not is_url(place):
        yield _found(Path(place), place)
        return
    with tempfile.TemporaryDirectory(prefix="numapredict-store-") as folder:
        refused = _fetch(place, Path(folder))
        yield _found(Path(folder), place, refused)


def add(folder: Path, place: str) -> tuple[str, bool]:
    """Copy a dataset into a store, unless it is there; return its name there, and whether it is new.

    InvalidInputError for a folder that is no dataset, UnwritableError where the store refuses.
    """
    check_place(place)
    if (Path(place) / DESCRIPTION_FILE).exists():
        raise InvalidInputError(f"{place} is a dataset, and no store of datasets: name another folder")
    dataset = read_dataset(folder)
    with refused_as(f"cannot read {folder}", InvalidInputError):
        files = {name: read_bounded(folder / name, MOST_BYTES) for name in (TABLE_FILE, DESCRIPTION_FILE)}
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", dataset.machine).strip(".-")[:60] or "machine"
    name = f"{plain}-{hashlib.sha256(files[DESCRIPTION_FILE]).hexdigest()}"
    return name, (_upload if is_url(place) else _write)(place, name, files)


def _write(place: str, name: str, files: dict[str, bytes]) -> bool:
    """Put the files into a new folder in one step: a reader sees all of it or nothing."""
    store = Path(place)
    target, made = store / name, store / f".{name}.{secrets.token_hex(4)}.tmp"
    with refused_as(f"cannot add to the store {place}"):
        if target.is_dir() and all(_is(target / file, data) for file, data in files.items()):
            return False
        if target.is_dir():  # damaged: its name says what must be in it
            for file, data in files.items():
                replace_file(target / file, data)
            return True
        made.mkdir(parents=True)
        try:
            for file, data in files.items():
                replace_file(made / file, data)
            made.rename(target)
            sync_folder(store)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            if not target.exists():  # else another process added it in between
                raise
            return False
    return True


def _is(file: Path, data: bytes) -> bool:
    try:
        return read_bounded(file, MOST_BYTES) == data
    except (OSError, NumapredictError):
        return False


def _upload(place: str, name: str, files: dict[str, bytes]) -> bool:
    """Put the description last: a folder without it is half-written, and written again."""
    filesystem, root = _opened(place)
    try:
        if all(_has(filesystem, f"{root}/{name}/{file}", len(data)) for file, data in files.items()):
            return False
        filesystem.makedirs(f"{root}/{name}", exist_ok=True)
        for file, data in files.items():
            filesystem.pipe_file(f"{root}/{name}/{file}", data)
    except Exception as error:  # of the library that fsspec loads for this kind of URL
        raise UnwritableError(f"cannot add to {place}: {_words(error)}; look at its address and your rights") from error
    return True


def _found(folder: Path, place: str, refused: tuple[LeftOut, ...] = ()) -> Store:
    store = _read_folder(folder, place)
    left_out = (*refused, *store.left_out)
    if not store.datasets:
        why = f" ({left_out[0].path}: {left_out[0].reason})" if left_out else ""
        raise InvalidInputError(f"{place} has no dataset that can be read{why}; name a folder or URL of datasets")
    return Store(store.datasets, left_out)


def _has(filesystem: "AbstractFileSystem", path: str, size: int) -> bool:
    return bool(filesystem.isfile(path)) and filesystem.size(path) == size


def _read_folder(folder: Path, place: str) -> Store:
    if (folder / DESCRIPTION_FILE).exists():
        name = PurePosixPath(place.rstrip("/")).name if is_url(place) else folder.resolve().name
        return Store((StoredDataset(name, read_heading(folder), folder, place),), ())
    try:
        names = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    except OSError as error:
        raise InvalidInputError(
            f"cannot read {place}: {reason_and_advice(error)}; name a folder of datasets"
        ) from error
    datasets, left_out = [], []
    for name in names[:MOST_DATASETS]:
        shown = f"{place}/{name}"
        try:
            datasets.append(StoredDataset(name, _heading_of(folder / name), folder / name, shown))
        except NumapredictError as error:
            left_out.append(LeftOut(shown, str(error).replace(str(folder / name), shown)))
    left_out += [LeftOut(f"{place}/{name}", f"a store has at most {MOST_DATASETS}") for name in names[MOST_DATASETS:]]
    return Store(tuple(datasets), tuple(left_out))


def _heading_of(folder: Path) -> Heading:
    if not folder.is_dir():
        raise InvalidInputError("it is no folder of a dataset")
    if not (folder / TABLE_FILE).is_file():
        raise InvalidInputError(f"{TABLE_FILE} is missing: it is half-written, or no dataset")
    if (named := _BY_CONTENTS.search(folder.name)) is not None:
        with refused_as(f"cannot read {folder}", InvalidInputError):
            data = read_bounded(folder / DESCRIPTION_FILE, MOST_BYTES)
        if hashlib.sha256(data).hexdigest() != named["digest"]:
            raise InvalidInputError(f"{DESCRIPTION_FILE} is not what the folder's name says: it was changed")
    return read_heading(folder)


def _fetch(place: str, into: Path) -> tuple[LeftOut, ...]:
    """Copy the two files of each dataset in a URL's store, or of the one that it is; return what is no dataset."""
    filesystem, root = _opened(place)
    left_out = []
    try:
        if filesystem.exists(f"{root}/{DESCRIPTION_FILE}"):
            _fetch_files(filesystem, root, into)
            return ()
        for entry in filesystem.ls(root, detail=True)[:MOST_DATASETS]:
            name = PurePosixPath(str(entry["name"]).rstrip("/")).name
            if name in ("", ".", "..") or "\0" in name or name.startswith("."):
                continue
            if entry["type"] != "directory":
                left_out.append(LeftOut(f"{place}/{name}", "it is no folder of a dataset"))
                continue
            (into / name).mkdir()
            reason = _fetch_files(filesystem, f"{root}/{name}", into / name)
            if reason:
                shutil.rmtree(into / name)
                left_out.append(LeftOut(f"{place}/{name}", reason))
    except Exception as error:  # of the library that fsspec loads for this kind of URL
        raise InvalidInputError(f"cannot read {place}: {_words(error)}; look at its address and your rights") from error
    return tuple(left_out)


def _fetch_files(filesystem: "AbstractFileSystem", folder: str, into: Path) -> str:
    """Return why a folder's files were not copied, or nothing."""
    for file in (DESCRIPTION_FILE, TABLE_FILE):
        path = f"{folder}/{file}"
        if not filesystem.isfile(path):
            return f"{file} is missing: it is half-written, or no dataset"
        size: Any = filesystem.size(path)
        if size is None or size > MOST_BYTES:
            return f"{file} has more than {MOST_BYTES // MIB} MiB"
        filesystem.get_file(path, str(into / file))
    return ""


def _opened(place: str) -> "tuple[AbstractFileSystem, str]":
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UsageError(f"{place} is a URL, which needs fsspec: pip install 'numapredict[fleet]'") from None
    try:
        filesystem, root = url_to_fs(place)
    except Exception as error:  # an unknown protocol, or one whose library is not installed
        raise InvalidInputError(f"cannot open {place}: {_words(error)}") from error
    return filesystem, str(root).rstrip("/")


def _words(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
