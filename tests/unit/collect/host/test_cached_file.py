"""Where the page cache has a file; moving between nodes is tested in guests."""

import mmap
import os
from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.host.cached_file import ABSENT, nodes_of, put_back
from numapredict.collect.placing.policies import page_queries_refused

pytestmark = pytest.mark.skipif(bool(page_queries_refused()), reason="the kernel does not say where pages are")


def test_a_file_in_memory_is_on_some_node(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(5 * mmap.PAGESIZE + 1))
    nodes = nodes_of(file)
    assert nodes is not None
    assert len(nodes) == 6
    assert (nodes >= 0).all()
    put_back(file, nodes)
    again = nodes_of(file)
    assert again is not None
    assert np.array_equal(again, nodes)


def test_what_is_not_in_memory_is_not_read_in(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as opened:
        opened.truncate(64 * mmap.PAGESIZE)  # a hole: no page of it was ever made
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    for _ in range(2):
        nodes = nodes_of(file)
        assert nodes is not None
        assert (nodes == ABSENT).all()
    put_back(file, np.zeros(64, dtype=np.int16))
    put_back(file, np.zeros(3, dtype=np.int16))  # it was another file then


@pytest.mark.parametrize("path", ["absent", "empty", "."])
def test_of_what_is_no_file_with_pages_nothing_is_known(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").touch()
    assert nodes_of(tmp_path / path) is None
    put_back(tmp_path / path, np.zeros(3, dtype=np.int16))
