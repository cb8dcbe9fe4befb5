from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.native.errors import InvalidInputError, UnwritableError
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of, read_gains, write_gains
from tests.shapes import shape

GAINS = np.array([[0.0, 1.5, -2.25], [0.0, -0.125, 3.0]])
LABELS = ("16x2-contiguous-first-touch", "16x2-contiguous-interleave", "8x1-contiguous-bind")


def some(**changes: object) -> MachineGains:
    """Return the gains of two programs on a machine of two nodes."""
    fields: dict[str, object] = {
        "machine": "small",
        "modelled": True,
        "topology": shape([8, 8]),
        "default": LABELS[0],
        "mappings": LABELS,
        "groups": ("one", "other"),
        "numbers": numbers_of(GAINS),
    }
    return MachineGains(**{**fields, **changes})  # type: ignore[arg-type]


def test_gains_that_are_written_are_read(tmp_path: Path) -> None:
    write_gains([some(), some(machine="other")], tmp_path / "gains")
    first, other = read_gains(tmp_path / "gains")
    assert first == some()
    assert other.machine == "other"
    assert first.gains.tolist() == GAINS.tolist()
    assert [mapping.label for mapping in first.parsed] == list(LABELS)


@pytest.mark.parametrize(
    "changes",
    [
        {"numbers": numbers_of(GAINS)[:-1]},
        {"default": "2x1-contiguous-bind"},
        {"groups": (), "numbers": b""},
        {"numbers": numbers_of(GAINS * np.nan)},
    ],
)
def test_contradictory_gains_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="small has"):
        some(**changes)


def damaged() -> dict[str, bytes]:
    """Return files that are no gains, by what is wrong with them."""
    whole = msgspec.to_builtins({"schema_version": 1, "machines": (some(),)}, builtin_types=(bytes,))
    machine = whole["machines"][0]
    return {
        "empty": b"",
        "a pickle": b"\x80\x04\x95\x10",
        "torn": msgspec.msgpack.encode(whole)[:-40],
        "too new": msgspec.msgpack.encode({"schema_version": 2, "machines": "?"}),
        "a label": msgspec.msgpack.encode(
            {**whole, "machines": [{**machine, "mappings": [LABELS[0], "a\nb", LABELS[2]]}]}
        ),
        "a gain": msgspec.msgpack.encode({**whole, "machines": [{**machine, "numbers": b"\xff" * 12}]}),
        "a node": msgspec.msgpack.encode(
            {**whole, "machines": [{**machine, "topology": {**machine["topology"], "nodes": []}}]}
        ),
    }


@pytest.mark.parametrize("what", damaged())
def test_a_damaged_file_is_refused_in_one_line(what: str, tmp_path: Path) -> None:
    (tmp_path / "gains").write_bytes(damaged()[what])
    with pytest.raises(InvalidInputError) as error:
        read_gains(tmp_path / "gains")
    assert str(tmp_path / "gains") in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


def test_a_file_that_is_missing_or_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot read"):
        read_gains(tmp_path / "none")
    with pytest.raises(UnwritableError, match="cannot write the gains"):
        write_gains([some()], Path("/dev/full"))
