"""A store that machines share: it only grows, and what is wrong in it harms nothing else."""

import os
import pickle
import sys
from pathlib import Path

import fsspec
import msgspec
import pytest

from numapredict.collect.data import dataset_store
from numapredict.collect.data.dataset import DESCRIPTION_FILE, TABLE_FILE, Dataset, write_dataset
from numapredict.collect.data.dataset_store import LeftOut, add, opened_store
from numapredict.native.errors import InvalidInputError, UnwritableError, UsageError
from tests.samples import dataset_of


@pytest.fixture
def datasets(tmp_path: Path) -> tuple[Path, Path]:
    """Return the folders of two datasets."""
    folders = tmp_path / "one", tmp_path / "two"
    for number, folder in enumerate(folders):
        write_dataset(msgspec.structs.replace(dataset_of(), created=f"2025-01-0{number + 1}T00:00:00Z"), folder)
    return folders


def held(place: str) -> tuple[dict[str, Dataset], tuple[LeftOut, ...]]:
    """Return the datasets in a store that can be read, by their names, and all that is left out."""
    datasets, left_out = {}, []
    with opened_store(place) as store:
        for each in store.datasets:
            try:
                datasets[each.name] = each.read()
            except InvalidInputError as error:
                left_out.append(LeftOut(each.shown, str(error)))
        return datasets, (*store.left_out, *left_out)


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
    assert list(held(str(store))[0]) == sorted([name, other])


@pytest.mark.parametrize("damage", ["cut", "gone"])
@pytest.mark.parametrize("url", [False, True])
def test_adding_a_dataset_again_repairs_it(datasets: tuple[Path, Path], tmp_path: Path, damage: str, url: bool) -> None:
    place = f"memory://repaired-{damage}" if url else str(tmp_path / "store")
    name, _ = add(datasets[0], place)
    whole, files = held(place), fsspec.filesystem("memory" if url else "file")
    table = f"{place.removeprefix('memory:/') if url else place}/{name}/{TABLE_FILE}"
    if damage == "cut":
        files.pipe_file(table, files.cat_file(table)[:-9])
    else:
        files.rm(table)
    assert add(datasets[0], place) == (name, True)
    assert held(place) == whole
    assert add(datasets[0], place) == (name, False)


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
    (store / "piped" / TABLE_FILE).touch()
    (store / "torn").mkdir()
    (store / "torn" / DESCRIPTION_FILE).write_bytes((datasets[0] / DESCRIPTION_FILE).read_bytes())
    (store / "torn" / TABLE_FILE).write_bytes(b"PAR1")
    (store / "stray").write_text("notes")
    found, left_out = held(str(store))
    assert list(found) == [good]
    reasons = {Path(each.path).name: each.reason for each in left_out}
    assert sorted(reasons) == sorted([changed, "half", "pickled", "piped", "stray", "torn"])
    assert "belongs to another file" in reasons["torn"]
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
    assert held(url)[0] == held(str(store))[0]
    memory.rm(f"/test-store/{name}/{TABLE_FILE}")
    memory.pipe_file("/test-store/stray", b"notes")
    memory.pipe_file(f"/test-store/torn/{TABLE_FILE}", b"PAR1")
    memory.pipe_file(f"/test-store/torn/{DESCRIPTION_FILE}", (datasets[0] / DESCRIPTION_FILE).read_bytes())
    found, left_out = held(url)
    assert len(found) == 1
    assert [each.path for each in left_out] == [f"{url}/{name}", f"{url}/stray", f"{url}/torn"]
    assert left_out[-1].reason.startswith(f"{url}/torn/{TABLE_FILE}: ")
    other = next(iter(found))
    assert held(f"{url}/{other}")[0] == found  # a dataset itself


def test_a_file_at_a_url_that_is_too_large_is_not_fetched(
    datasets: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "memory://large-store"
    name, _ = add(datasets[0], url)
    monkeypatch.setattr(dataset_store, "MOST_BYTES", 10)
    with pytest.raises(InvalidInputError, match=f"{name}: {DESCRIPTION_FILE} has more than"):
        held(url)


def test_places_that_cannot_be_used_are_named(
    datasets: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        pytest.raises(InvalidInputError, match=r"nowhere: No such file or directory; name a folder of datasets"),
        opened_store(str(tmp_path / "nowhere")),
    ):
        pass
    (tmp_path / "empty").mkdir()
    with (
        pytest.raises(InvalidInputError, match=r"empty has no dataset that can be read; name a folder or URL"),
        opened_store(str(tmp_path / "empty")),
    ):
        pass
    with (
        pytest.raises(InvalidInputError, match="cannot open nothing://there: ValueError: Protocol not known"),
        opened_store("nothing://there"),
    ):
        pass
    with pytest.raises(InvalidInputError, match=r"dataset\.json is missing"):
        add(tmp_path / "empty", str(tmp_path / "store"))
    with pytest.raises(UsageError, match="the store's name is empty"):
        held("")
    with pytest.raises(UsageError, match="the store's name is empty"):
        add(datasets[0], "")
    with pytest.raises(InvalidInputError, match="is a dataset, and no store"):
        add(datasets[0], str(datasets[1]))
    with pytest.raises(UnwritableError, match="cannot add to the store"):
        add(datasets[0], str(datasets[0] / DESCRIPTION_FILE))
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UsageError, match=r"pip install 'numapredict\[fleet\]'"):
        held("memory://test-store")
