"""Which pages a measured run begins with, by runs in turn; that they move is tested in guests."""

import mmap
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring import mapped_files
from numapredict.collect.measuring.mapped_files import MappedFiles, files_in_words, files_of
from numapredict.collect.program import Program

PROGRAM = Program(name="app", command=("./app",))
AS_IT_IS, BIND, SPREAD = (AnyMapping(label) for label in ("as-it-is", "bind", "interleave"))
MODEL = Path("/models/model.gguf")


class Cache:
    """A page cache in which one file has one page."""

    def __init__(self) -> None:
        self.node = 7
        self.looks = 0

    def nodes_of(self, path: Path) -> object:
        return np.array([self.node]) if path == MODEL else None

    def put_back(self, path: Path, nodes: list[int]) -> None:
        assert path == MODEL
        (self.node,) = nodes

    def mapped(self) -> list[Path]:
        self.looks += 1
        return [MODEL, Path("/tmp/own/regions")]  # noqa: S108 - is not opened


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> Cache:
    made = Cache()
    monkeypatch.setattr(mapped_files, "nodes_of", made.nodes_of)
    monkeypatch.setattr(mapped_files, "put_back", made.put_back)
    monkeypatch.setattr(mapped_files, "_mapped", made.mapped)
    return made


def run(files: MappedFiles, cache: Cache, mapping: AnyMapping, moved_to: int | None = None) -> int:
    """Run under a mapping; return the node at the beginning."""
    with files.kept_apart(PROGRAM, mapping, Path("/tmp/own")) as look:  # noqa: S108 - is not opened
        found = cache.node
        for _ in range(5):
            look()
        cache.node = cache.node if moved_to is None else moved_to
    return found


def test_each_run_begins_where_its_mapping_left_the_pages_or_else_the_first_run(cache: Cache) -> None:
    files = MappedFiles()
    assert run(files, cache, AS_IT_IS) == 7
    assert run(files, cache, BIND, 0) == 7
    assert run(files, cache, SPREAD, 1) == 7
    assert run(files, cache, AS_IT_IS) == 7
    assert [run(files, cache, mapping) for mapping in (BIND, SPREAD, AS_IT_IS, BIND)] == [0, 1, 7, 0]
    assert cache.looks == 3  # at 1, 2 and 4, and only in the first run


def test_files_of_a_kept_run_are_known_before_the_first(cache: Cache) -> None:
    files = MappedFiles()
    files.expect(PROGRAM, AS_IT_IS, [str(MODEL), "/models/gone"])
    assert [run(files, cache, BIND, 0), run(files, cache, AS_IT_IS)] == [7, 7]
    assert cache.looks == 0


def test_the_note_is_read_back_and_told(cache: Cache) -> None:
    files = MappedFiles()
    assert files.note(PROGRAM) == ()
    run(files, cache, AS_IT_IS)
    measured = Measurement(
        program="app", mapping=AS_IT_IS, machine="here", modelled=False, provenance=files.note(PROGRAM)
    )
    assert files_of(measured) == (str(MODEL),)
    (words,) = files_in_words([measured, measured])
    assert words.startswith("the program maps model.gguf: ")
    assert list(files_in_words([])) == []


def test_what_descendants_map_is_found(tmp_path: Path) -> None:
    data, small = tmp_path / "data", tmp_path / "small"
    data.write_bytes(bytes(1 << 20))
    small.write_bytes(bytes(mmap.PAGESIZE))
    script = (
        "import mmap, sys\n"
        "opened = [open(path, 'rb') for path in sys.argv[1:]]\n"
        "kept = [mmap.mmap(one.fileno(), 0, prot=mmap.PROT_READ) for one in opened]\n"
        "print(flush=True)\ninput()"
    )
    words = [sys.executable, "-c", script, str(data), str(small)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = list(mapped_files._mapped())
        process.communicate(b"\n")
    assert found == [data]
