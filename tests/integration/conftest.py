from pathlib import Path

import pytest

from tests.openmp import GCC, build
from tests.small_pages import decline_huge_pages
from tests.unwatched import look_away


@pytest.fixture(scope="session", autouse=True)
def small_pages() -> None:
    """Let pages be of 4 KiB in all programs that tests start."""
    decline_huge_pages()


@pytest.fixture(autouse=True)
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let other tests use the computer meanwhile; tests of what a busy one changes define another fixture so named."""
    look_away(monkeypatch)


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that is no codelet: its arguments say how many threads it sets, and how it ends."""
    return build("foreign.c", tmp_path_factory.mktemp("foreign"), GCC)


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a test a cache and a data folder of its own."""
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "data"))
