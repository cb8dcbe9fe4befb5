import json
from pathlib import Path

import msgspec
import pytest

from tests.golden.figures.figures import FIGURES

GOLDEN = Path(__file__).parent


def assert_alike(found: object, golden: object, where: str) -> None:
    """Compare what JSON holds; numbers may differ by what another library's rounding does."""
    if isinstance(golden, dict):
        assert isinstance(found, dict)
        assert found.keys() == golden.keys(), where
        for key, value in golden.items():
            assert_alike(found[key], value, f"{where}.{key}")
    elif isinstance(golden, list):
        assert isinstance(found, list)
        assert len(found) == len(golden), where
        for number, value in enumerate(golden):
            assert_alike(found[number], value, f"{where}[{number}]")
    elif isinstance(golden, float):
        assert found == pytest.approx(golden, rel=1e-9, abs=1e-12), where
    else:
        assert found == golden, where


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_what_it_did(name: str) -> None:
    found = json.loads(msgspec.json.encode(FIGURES[name]()))
    assert_alike(found, json.loads((GOLDEN / f"{name}.json").read_text()), name)


def test_no_golden_file_is_without_its_figure() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(FIGURES)
