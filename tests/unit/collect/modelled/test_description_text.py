from pathlib import Path

import msgspec
import pytest

from numapredict.collect.modelled.description import machine_names
from numapredict.collect.modelled.description_file import MachineFile, parse_file
from numapredict.collect.modelled.description_text import description_text
from numapredict.models import __path__ as folders


def shipped(name: str) -> MachineFile:
    return parse_file((Path(folders[0]) / "machines" / f"{name}.toml").read_bytes(), name)


@pytest.mark.parametrize("name", machine_names())
def test_every_shipped_description_is_read_back_as_it_was(name: str) -> None:
    file = shipped(name)
    assert parse_file(description_text(file, "a comment").encode(), name) == file


def test_texts_with_every_letter_are_read_back() -> None:
    odd = "".join(map(chr, [*range(1, 300), 0x2028, 0x1F600]))
    file = msgspec.structs.replace(shipped("lpdquad"), summary=odd)
    assert parse_file(description_text(file).encode(), "odd").summary == odd
