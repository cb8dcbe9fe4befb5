import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from numapredict.collect.host import standard_input
from numapredict.collect.host.standard_input import input_digest, input_in_words, open_input


@contextmanager
def given(descriptor: int) -> Iterator[None]:
    """Make a descriptor this process's standard input for a while."""
    before = os.dup(0)
    os.dup2(descriptor, 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


@contextmanager
def file(path: Path, content: str, at: int = 0) -> Iterator[None]:
    path.write_text(content)
    with path.open("rb") as opened:
        opened.seek(at)
        with given(opened.fileno()):
            yield


def read() -> bytes:
    opened = open_input()
    assert opened is not None
    with open(opened, "rb") as again:
        return again.read()


def test_a_file_is_read_anew_from_where_it_stands(tmp_path: Path) -> None:
    with file(tmp_path / "in", "first\nsecond\n", at=6):
        assert (read(), read()) == (b"second\n", b"second\n")
        assert os.lseek(0, 0, os.SEEK_CUR) == 6
        assert input_in_words() == (f"each run reads standard input anew: {tmp_path}/in", False)
        (tmp_path / "in").unlink()
        assert read() == b"second\n", "a file without a name, such as a shell's here-document, can be read too"


def test_equal_contents_have_equal_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = []
    for name, content, at in (("a", "one", 0), ("b", "one", 0), ("c", "two", 0), ("d", "x one", 2), ("e", "one", 1)):
        with file(tmp_path / name, content, at):
            digests.append(input_digest())
    assert digests[0] == digests[1] == digests[3]
    assert len(set(digests)) == 3
    monkeypatch.setattr(standard_input, "_DIGESTED_BYTES", 2)
    with file(tmp_path / "large", "one"):
        large = input_digest()
        assert large == input_digest() != digests[0]
    with file(tmp_path / "large", "three"):
        assert input_digest() != large


@pytest.mark.parametrize("kind", ["empty", "at its end", "null", "folder", "idle pipe", "closed"])
def test_where_nothing_is_left_there_is_no_input(tmp_path: Path, kind: str) -> None:
    (tmp_path / "in").write_text("" if kind == "empty" else "text")
    reader, writer = os.pipe()
    path = {"null": Path(os.devnull), "folder": tmp_path}.get(kind, tmp_path / "in")
    opened = os.open(path, os.O_RDONLY)
    if kind == "at its end":
        os.lseek(opened, 0, os.SEEK_END)
    try:
        with given(reader if kind == "idle pipe" else opened):
            if kind == "closed":
                os.close(0)
            assert (open_input(), input_digest(), input_in_words()) == (None, "", ("", False))
    finally:
        for each in (reader, writer, opened):
            os.close(each)


def test_bytes_in_a_pipe_are_a_doubt_and_stay_there() -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"input")
        with given(reader):
            text, is_doubt = input_in_words()
        assert text.startswith("standard input is a pipe, which can be read only once: no run gets any input; write it")
        assert is_doubt
        assert os.read(reader, 9) == b"input"
    finally:
        os.close(reader)
        os.close(writer)
