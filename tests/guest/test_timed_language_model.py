"""Tokens a second in a timed guest, without llama.cpp: the model's file, the table, and runs of a stand-in."""

import struct
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.language_model import ModelSize, write_model
from tests.benchmarks.programs import compiled
from tests.benchmarks.timed_language_model import measured, rows
from tests.guest.timed.configuration import Timing, timed_machine

SMALL = ModelSize(tokens=256, embedding=512, inner=512, layers=1)
STAND_IN = Path(__file__).with_name("programs") / "token_maker.c"


def test_a_model_is_as_large_as_its_weights(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    write_model(model, SMALL)
    assert struct.unpack("<4sIQ", model.read_bytes()[:16]) == (b"GGUF", 3, 3 + 9)
    weights = 2 * 256 * 512 + 7 * 512 * 512
    beside = model.stat().st_size - weights * 34 // 32 - 3 * 512 * 4
    assert 0 < beside < 4096


def test_gains_are_over_the_program_as_it_is_round_by_round() -> None:
    runs = {
        "as it is": [{"tokens_per_s": rate, "pages": [0, 8], "remote": 0.5} for rate in (1.0, 2.0, 4.0)],
        "label": [{"tokens_per_s": rate, "pages": [4, 4], "remote": 0.25} for rate in (3.0, 4.0, 8.0)],
    }
    assert list(rows(runs)) == [
        ("as it is", "2", "1 to 4", "1.00x (1.00 to 1.00)", "50%", "0 + 8"),
        ("label", "4", "3 to 8", "2.00x (2.00 to 3.00)", "25%", "4 + 4"),
    ]


@pytest.mark.native
@pytest.mark.usefixtures("guests")
def test_a_stand_in_makes_more_tokens_where_its_pages_are_with_its_threads(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []
    program, model = compiled(STAND_IN, tmp_path), tmp_path / "model.gguf"
    write_model(model, SMALL)
    words = ("1", "4", "contiguous-locality", str(program), str(model))
    assert measured(Timing(timed_machine("guest-2x2")), tmp_path, words, said.append) == 0
    as_it_is, advised = said
    pages = -(-model.stat().st_size // 4096)
    assert as_it_is["pages"] == [0, pages]
    assert min(advised["pages"]) > 0.45 * pages
    assert advised["remote"] < 0.3 < as_it_is["remote"]
    assert as_it_is["tokens_per_s"] < advised["tokens_per_s"]
