import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.campaign.shard import JournalName, Shard, journal_named
from numapredict.native.errors import UsageError
from tests.samples import programs_of

NAMES = st.lists(
    st.text(min_size=1).filter(lambda name: "/" not in name and "\0" not in name), unique=True, max_size=40
)


@given(names=NAMES, count=st.integers(1, 50))
def test_every_program_is_in_one_shard_and_the_shards_are_as_large(names: list[str], count: int) -> None:
    programs = programs_of(*names)
    shards = [Shard(number, count).programs_of(programs) for number in range(count)]
    assert sorted(p.name for shard in shards for p in shard) == sorted(names)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1
    for shard in shards:
        assert [p for p in programs if p in shard] == list(shard)


def test_the_order_of_the_programs_does_not_count() -> None:
    programs = programs_of(*map(str, range(20)))
    shard = Shard(1, 3)
    assert set(shard.programs_of(programs)) == set(shard.programs_of(programs[::-1]))


def test_it_is_the_same_in_every_process() -> None:
    code = (
        "from numapredict.collect.campaign.shard import Shard; from tests.samples import programs_of;"
        "print([p.name for p in Shard(0, 4).programs_of(programs_of(*map(str, range(12))))])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {b"['3', '7', '9']\n"}


@pytest.mark.parametrize(("number", "count"), [(3, 3), (-1, 3), (0, 0)])
def test_a_shard_that_is_none_is_refused(number: int, count: int) -> None:
    with pytest.raises(UsageError, match=f"of {count} shards the first is 0 and the last is {count - 1}"):
        Shard(number, count)


def test_a_name_says_what_was_put_into_it() -> None:
    name = JournalName(Shard(3, 16), "0123abcd", "cn-0042", "20260102T030405Z-77ab03ff")
    assert name.file == "3-of-16.0123abcd.cn-0042.20260102T030405Z-77ab03ff.jsonl"
    assert journal_named(name.file) == name


@pytest.mark.parametrize(
    "file",
    [
        "journal.jsonl",
        "3-of-16.0123abcd.cn.1.jsonl.tmp",
        ".3-of-16.0123abcd.cn.1.jsonl",
        "16-of-16.0123abcd.cn.1.jsonl",
        "3-of-16.0123abcd..1.jsonl",
    ],
)
def test_other_files_are_no_journals(file: str) -> None:
    assert journal_named(file) is None
