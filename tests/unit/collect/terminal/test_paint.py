"""Plain text becomes text for a terminal, and nothing is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.terminal.paint import fitted, is_command, is_table_row, painted

ADVICE = """./heat on sandybridge-4x8 (modelled)

  best mapping      32x4-scatter-locality
                    32 threads on 4 nodes, dealt out one node after the other; each page on the node
                    whose threads use it most
  expected speedup  6.09x over 32x4-contiguous-first-touch for its parallel regions

  run it so
  numapredict run --mapping 32x4-scatter-locality -- ./heat some/long/input.dat another/long/input.dat
  OMP_NUM_THREADS=32 OMP_PLACES='{0}:4:8,{1}:4:8,{2}:4:8' OMP_PROC_BIND=close numactl --interleave=0-3 ./heat

clusters   speedup    of programs that were held out    and a column more than eighty characters wide
       6     1.75x    128"""


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_prose_keeps_within_the_width_and_commands_stay_whole(columns: int) -> None:
    lines = fitted(ADVICE, columns).split("\n")
    for line in ADVICE.split("\n"):
        if is_command(line) or is_table_row(line):
            assert line in lines
    assert all(len(line) <= columns for line in lines if not (is_command(line) or is_table_row(line)))
    assert " ".join(" ".join(lines).split()) == " ".join(ADVICE.split())


def test_what_fits_is_left_alone() -> None:
    assert fitted(ADVICE, 120) == ADVICE
    assert fitted("a " * 50, 5) == "a " * 50


def test_a_label_keeps_its_column_where_there_is_room_and_stands_above_where_not() -> None:
    line = "  best mapping      " + "word " * 12 + "end"
    wide = fitted(line, 60).split("\n")
    assert wide[0].startswith("  best mapping      word")
    assert wide[1].startswith(" " * 20 + "word")
    narrow = fitted(line, 40).split("\n")
    assert narrow[0] == "  best mapping"
    assert narrow[1].startswith("    word")


@given(st.text(alphabet=st.sampled_from("ab -=.O\n"), max_size=200), st.integers(1, 120))
def test_no_word_is_lost_or_made_up(text: str, columns: int) -> None:
    assert fitted(text, columns).split() == text.split()
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted(text)) == text


def test_headlines_labels_and_commands_are_coloured() -> None:
    lines = painted(ADVICE).split("\n")
    assert lines[0] == "\x1b[1m./heat on sandybridge-4x8 (modelled)\x1b[0m"
    assert lines[2] == "\x1b[36m  best mapping\x1b[0m      32x4-scatter-locality"
    assert lines[8].startswith("\x1b[32m  numapredict run")
    assert lines[-1] == ADVICE.rsplit("\n", maxsplit=1)[-1]
