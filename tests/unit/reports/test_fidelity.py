"""The fidelity table, from made-up comparisons."""

from pathlib import Path

import pytest

from numapredict.collect.fidelity.claim import Comparison, as_given, at_least, within
from numapredict.native.errors import UnwritableError
from numapredict.reports.fidelity import fidelity_table, write_table

COMPARISON = Comparison(
    source="Paper, table 1",
    machine="box-2x2",
    used="latencies",
    predicted="bandwidths",
    claims=(
        within("all cores | reading", "GB/s", (10.0, 11.0), 0.15),
        within("one core", "GB/s", (10.0, 15.0), 0.15, "nobody knows"),
        at_least("order", "rho", (None, 0.9), 0.8),
        as_given(within("what it was told", "GB/s", (10.0, 10.0), 0.15)),
    ),
)


def test_every_figure_has_a_row_and_a_verdict() -> None:
    table = fidelity_table([COMPARISON], "numapredict report fidelity")
    assert "2 of 3 that the model predicts are as asked; besides, 1 of 1 that a machine is described by" in table
    assert "Made by `numapredict report fidelity`." in table
    assert "Given: latencies. Predicted: bandwidths." in table
    assert "| all cores \\| reading | GB/s | 10 | 11 | +10% | within 15% | yes |" in table
    assert "| one core | GB/s | 10 | 15 | +50% | within 15% | **no** |" in table
    assert "| order | rho |  | 0.9 |  | at least 0.8 | yes |" in table
    assert "| what it was told | GB/s | 10 | 10 | +0% | within 15% | yes (given) |" in table
    assert table.count("Not met: nobody knows.") == 1
    assert table.endswith("\n")


def test_a_table_that_cannot_be_written_gets_one_line(tmp_path: Path) -> None:
    write_table("text\n", tmp_path / "table.md")
    with (tmp_path / "table.md").open("a") as file:
        file.write("\n## Of it\n\n0\n\n## Measured seconds: a\n\n1\n\n## Timed guest b\n\n2\n")
    write_table("other\n\n## Of it\n\n3\n", tmp_path / "table.md")
    kept = "\n## Measured seconds: a\n\n1\n\n## Timed guest b\n\n2\n"
    assert (tmp_path / "table.md").read_text() == f"other\n\n## Of it\n\n3\n{kept}"
    (tmp_path / "table.md").unlink()
    write_table("text\n", tmp_path / "table.md")
    assert (tmp_path / "table.md").read_text() == "text\n"
    with pytest.raises(UnwritableError, match="cannot write the table"):
        write_table("text\n", tmp_path / "missing" / "table.md")
