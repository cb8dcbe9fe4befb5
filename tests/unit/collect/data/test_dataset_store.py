"""A store that machines share: it only grows, and what is wrong in it harms nothing else."""

import os
import pickle
import sys
from pathlib import Path

import fsspec
import msgspec
import pytest

from numapredict.collect.data import dataset_store
from numapredict.collect.data.dataset import DESCRIPTION_FILE, TABLE_FILE, write_dataset
from numapredict.collect.data.dataset_store import add, read_store
from numapredict.native.errors import InvalidInputError, UnwritableError, UsageError
from tests.samples import dataset_of


@pytest.fixture
def datasets(tmp_path: Path) -> tuple[Path, Path]:
    """Return the folders of two datasets."""
    folders = tmp_path / "one", tmp_path / "two"
    for number, folder in enumerate(folders):
        write_dataset(msgspec.structs.replace(dataset_of(), created=f"2025-01-0{number + 1}T00:00:00Z"), folder)
    return folders


def contents(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def test_adding_a_dataset_changes_no_other_and_adding_it_again_changes_nothing(
    datasets: tuple[Path, Path], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    name, new = add(datasets[0], str(store))
    assert new
    before = contents(store)
    other, _ = add(datasets[1], str(store))
    both = contents(store)
    assert other != name
    assert {path: both[path] for path in before} == before
    assert add(datasets[0], str(store)) == (name, False)
    assert contents(store) == both
    assert [found for found, _ in read_store(str(store)).datasets] == sorted([name, other])


class Trap:
    """Leaves a file behind if it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_what_is_damaged_half_written_or_foreign_is_named_and_the_rest_is_read(
    datasets: tuple[Path, Path], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    good, _ = add(datasets[0], str(store))
    changed, _ = add(datasets[1], str(store))
    description = store / changed / DESCRIPTION_FILE
    description.write_bytes(description.read_bytes().replace(b"2025-01-02", b"2026-01-02"))
    (store / f".{changed}.1.tmp").mkdir()  # left by a process that was killed while adding
    (store / "half").mkdir()
    (store / "half" / DESCRIPTION_FILE).write_bytes((datasets[0] / DESCRIPTION_FILE).read_bytes())
    (store / "pickled").mkdir()
    for file in (DESCRIPTION_FILE, TABLE_FILE):
        (store / "pickled" / file).write_bytes(pickle.dumps(Trap(tmp_path / "ran")))
    (store / "piped").mkdir()
    os.mkfifo(store / "piped" / DESCRIPTION_FILE)
    (store / "stray").write_text("notes")
    found = read_store(str(store))
    assert [name for name, _ in found.datasets] == [good]
    reasons = {Path(each.path).name: each.reason for each in found.left_out}
    assert sorted(reasons) == sorted([changed, "half", "pickled", "piped", "stray"])
    assert "not what the folder's name says" in reasons[changed]
    assert f"{TABLE_FILE} is missing" in reasons["half"]
    assert "it is no regular file" in reasons["piped"]
    assert not (tmp_path / "ran").exists()


def test_a_url_holds_the_same_as_a_folder(datasets: tuple[Path, Path], tmp_path: Path) -> None:
    store, url = tmp_path / "store", "memory://test-store"
    for folder in datasets:
        assert add(folder, str(store))[0] == add(folder, url)[0]
    name, new = add(datasets[0], url)
    assert not new
    memory = fsspec.filesystem("memory")
    assert read_store(url).datasets == read_store(str(store)).datasets
    memory.rm(f"/test-store/{name}/{TABLE_FILE}")
    memory.pipe_file("/test-store/stray", b"notes")
    found = read_store(url)
    assert len(found.datasets) == 1
    assert [each.path for each in found.left_out] == [f"{url}/{name}", f"{url}/stray"]
    assert read_store(f"{url}/{found.datasets[0][0]}").datasets[0][1] == found.datasets[0][1]  # a dataset itself


def test_a_file_at_a_url_that_is_too_large_is_not_fetched(
    datasets: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "memory://large-store"
    name, _ = add(datasets[0], url)
    monkeypatch.setattr(dataset_store, "MOST_BYTES", 10)
    with pytest.raises(InvalidInputError, match=f"{name}: {DESCRIPTION_FILE} has more than"):
        read_store(url)


def test_places_that_cannot_be_used_are_named(
    datasets: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInputError, match=r"nowhere: No such file or directory; name a folder of datasets"):
        read_store(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=r"empty has no dataset that can be read; name a folder or URL"):
        read_store(str(tmp_path / "empty"))
    with pytest.raises(InvalidInputError, match="cannot open nothing://there: ValueError: Protocol not known"):
        read_store("nothing://there")
    with pytest.raises(InvalidInputError, match=r"dataset\.json is missing"):
        add(tmp_path / "empty", str(tmp_path / "store"))
    with pytest.raises(UnwritableError, match="cannot add to the store"):
        add(datasets[0], str(datasets[0] / DESCRIPTION_FILE))
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UsageError, match=r"pip install 'numapredict\[fleet\]'"):
        read_store("memory://test-store")
