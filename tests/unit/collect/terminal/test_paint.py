"""Plain text becomes text for a terminal, and nothing is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.terminal.paint import fitted, is_table_row, painted

STYLE = re.compile(r"\x1b\[[0-9;]*m")
ADVICE = """./heat on sandybridge-4x8 (modelled)

  best mapping      32x4-scatter-locality
                    32 threads on 4 nodes, round-robin over the nodes; each page on the node whose
                    threads use it most
  expected speedup  6.09x over 32x4-contiguous-first-touch for its parallel regions

  to apply it
  numapredict run --mapping 32x4-scatter-locality -- ./heat some/long/input.dat another/long/input.dat
  OMP_NUM_THREADS=32 OMP_PLACES='{0}:4:8,{1}:4:8,{2}:4:8' OMP_PROC_BIND=close numactl --interleave=0-3 ./heat

clusters   speedup    of programs that were held out    and a column more than eighty characters wide
       6     1.75x    128"""
COMMANDS = {line.strip() for line in ADVICE.split("\n") if line.startswith(("  numapredict", "  OMP_NUM"))}


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_prose_keeps_within_the_width_and_commands_stay_whole(columns: int) -> None:
    lines = fitted(ADVICE, columns, COMMANDS).split("\n")
    prose = [line for line in lines if line.strip() not in COMMANDS]
    assert len(lines) - len(prose) == len(COMMANDS) == 2
    assert max(map(len, prose)) <= columns
    assert max(map(len, prose)) > columns * 0.75 or columns > 150
    assert set(ADVICE.split()) <= set(" ".join(lines).split())


def test_what_fits_is_left_alone() -> None:
    assert fitted(ADVICE, 120, COMMANDS) == ADVICE
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
    shown = fitted(text, columns)
    if not any(is_table_row(line) for line in text.split("\n")):
        assert shown.split() == text.split()
    assert STYLE.sub("", painted(text)) == text
    assert STYLE.sub("", painted(text, columns)) == shown


EVALUATION = """planted (modelled), 23 mappings, speedups over 32x4-contiguous-first-touch;
12 programs of 12 groups, each held out with all its variants

program         chosen mapping               speedup  oracle mapping
line-solve-0    32x4-contiguous-first-touch     1.00  32x4-contiguous-first-touch
shared-table-0  16x2-contiguous-locality       11.05  32x4-contiguous-balance

7 programs were advised to leave the default: 7 became faster, where 6.8 were expected to; 7 of the mappings had been
probes"""


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_headlines_are_bold_however_they_are_broken_and_the_end_of_prose_is_not(columns: int) -> None:
    bold = [line for line in painted(EVALUATION, columns).split("\n") if line.startswith("\x1b[1m")]
    text = STYLE.sub("", " ".join(bold))
    assert text == " ".join(EVALUATION.split("\n")[:2])


def test_headlines_labels_and_commands_are_coloured() -> None:
    lines = painted(ADVICE, commands=COMMANDS).split("\n")
    assert lines[0] == "\x1b[1m./heat on sandybridge-4x8 (modelled)\x1b[0m"
    assert lines[2] == "\x1b[36m  best mapping\x1b[0m      32x4-scatter-locality"
    assert lines[8].startswith("\x1b[32m  numapredict run")
    assert lines[-1] == ADVICE.rsplit("\n", maxsplit=1)[-1]


def test_only_what_is_named_is_a_command() -> None:
    command = f"cd /there && numapredict run --mapping 2x1-contiguous-bind -- ./app {'input ' * 12}end"
    prose = "  numapredict run --profile FILE says how many pages each thread touches, and costs little time"
    shown = painted(f"  to apply it\n  {command}\n\n{prose}", 60, {command}).split("\n")
    assert shown[1] == f"\x1b[32m  {command}\x1b[0m"
    assert "\x1b" not in "".join(shown[2:])
    assert max(map(len, shown[2:])) <= 60
