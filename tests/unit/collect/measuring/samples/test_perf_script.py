import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.measuring.samples.perf_script import read_script
from numapredict.collect.measuring.samples.served import CACHE, LOCAL, REMOTE
from numapredict.native.errors import CounterError

# The same load and instructions as perf 4.19, 6.1 and 6.18 print them: their words for a source differ.
SCRIPTS = {
    "4.19": (
        "  413 [001]  4635.315620123:       1009    mem-loads:     564119dca020         6a101042 "
        "|OP LOAD|LVL Local RAM hit|SNP Hit|TLB L1 or L2 hit|LCK No                 310     564119dc7010 \n"
    ),
    "6.1": (
        "  413 [001]  4635.315620123:       1009  mem-loads:     564119dca020      11a68101042 "
        "|OP LOAD|LVL Local RAM or RAM hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A             310     564119dc7010\n"
    ),
    "6.1, cut off": (
        "  413 [001]  4635.315620123:       1009  mem-loads:     564119dca020      11a68101042 "
        "|OP LOAD|LVL Local RAM or RAM hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N             310     564119dc7010\n"
    ),
    "6.18": (
        "    413 [001]  4635.315620123:       1009 mem-loads:upp:     564119dca020      11a68101042 "
        "|OP LOAD|LVL RAM hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A|AFF N/A      310     564119dc7010\n"
    ),
}
COUNTED = (
    "  413 [000]  4635.4:       2003 executed:                0                0                 0     564119dc7020\n"
)


@pytest.mark.parametrize("version", SCRIPTS)
def test_a_load_is_read_as_every_perf_prints_it(version: str) -> None:
    found = read_script([SCRIPTS[version], COUNTED, COUNTED], "mem-loads", "executed")
    assert found.rows.tolist() == [(413, 1, LOCAL, 4635.315620123, 0x564119DCA020, 310, 1009)]
    assert found.instructions == {413: 4006}


def test_samples_of_operations_count_themselves_and_the_kernels_are_left_out() -> None:
    lines = [
        " 7 [003] 1.5: 4096 ops: 7f0000001000 104042 |OP LOAD|LVL Remote RAM (2 hops) hit| 700 401000\n",
        " 7 [003] 1.6: 4096 ops: 0 1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A 0 401004\n",
        " 7 [003] 1.7: 4096 ops: ffff888000001000 100142 |OP LOAD|LVL L1 hit| 4 401008\n",
        " 7 [003] 1.8: 4096 ops: 7f0000002000 100142 |OP LOAD|LVL L1 hit| 4 ffffffff81000000\n",
        " 9 [004] 1.9: 4096 ops:/u: 7f0000003000 100142 |OP LOAD|LVL L1 hit| 4 401008\n",
    ]
    found = read_script(lines, "ops", "ops")
    assert found.rows[["pid", "cpu", "served", "address", "weight"]].tolist() == [
        (7, 3, REMOTE, 0x7F0000001000, 700),
        (9, 4, CACHE, 0x7F0000003000, 4),
    ]
    assert found.instructions == {7: 3 * 4096, 9: 4096}


def test_other_events_are_left_out() -> None:
    leader = SCRIPTS["6.1"].replace("mem-loads", "leader")
    found = read_script([leader, "\n"], "mem-loads", "executed")
    assert (len(found.rows), found.instructions) == (0, {})


def test_a_few_strange_lines_are_passed_over_and_more_are_refused_in_one_line() -> None:
    lines = [SCRIPTS["6.1"]] * 200
    assert len(read_script([*lines, "Warning:\n"], "mem-loads", "executed").rows) == 200
    with pytest.raises(CounterError, match="is not understood, as 'a\\\\x1b") as caught:
        read_script([*lines, *["a\x1b[2J" + "b" * 5000] * 10], "mem-loads", "executed")
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()


HOSTILE = (
    SCRIPTS["6.1"].replace("310", "9" * 5000),
    SCRIPTS["6.1"].replace("564119dca020", "f" * 5000),
    SCRIPTS["6.1"].replace("4635.315620123", "1" * 400 + ".0"),
    SCRIPTS["6.1"].replace("4635.315620123", "nan"),
    SCRIPTS["6.1"].replace("[001]", "[" + "9" * 30 + "]"),
    SCRIPTS["6.1"].replace("413", "9" * 30),
    SCRIPTS["6.1"].replace("1009", "٣"),  # a digit, but none of perf's
    SCRIPTS["6.1"][:60],
    "|" * 100_000,
    " " * 100_000 + "x",
)


@pytest.mark.parametrize("line", HOSTILE)
def test_what_no_perf_prints_is_refused(line: str) -> None:
    with pytest.raises(CounterError):
        read_script([line], "mem-loads", "executed")


@given(st.lists(st.text(max_size=200) | st.sampled_from([*SCRIPTS.values(), COUNTED]), max_size=8))
def test_any_text_is_read_or_refused(lines: list[str]) -> None:
    try:
        found = read_script(lines, "mem-loads", "executed")
    except CounterError:
        return
    assert len(found.rows) == sum(line in SCRIPTS.values() for line in lines)
