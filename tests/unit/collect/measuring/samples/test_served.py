import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.measuring.samples.served import CACHE, LOCAL, REMOTE, UNKNOWN, served_by
from tests.perf_data import NONE, source

HIT, L1, L3, LOCAL_RAM, REMOTE_RAM, ONE_HOP, TWO_HOPS = 0x2, 0x8, 0x40, 0x80, 0x100, 0x400, 0x800
CASES = {
    # As perf printed them, from messages of Linux's mailing lists: the number, and what perf said of it.
    "5080022: L3 hit, of an unknown operation": (0x5080022, UNKNOWN),
    "68100142: L1 hit": (0x68100142, CACHE),
    "10668100842: L3 or L3 hit": (0x10668100842, CACHE),
    "11868100242: LFB/MAB hit": (0x11868100242, CACHE),
    "88000182: L1 miss": (0x88000182, UNKNOWN),
    "288100144: a store": (0x288100144, UNKNOWN),
    "a software event": (NONE[1], UNKNOWN),
    # As the kernel composes them: PEBS in arch/x86/events/intel/ds.c ...
    "PEBS: local memory": (source(HIT | LOCAL_RAM, 0xD), LOCAL),
    "PEBS: remote memory": (source(HIT | REMOTE_RAM, 0xD, remote=1), REMOTE),
    "PEBS: a cache of another socket": (source(HIT | ONE_HOP, 0x3, remote=1), REMOTE),
    "PEBS, forwarded by a remote cache": (source(number=0xB, remote=1), REMOTE),
    "PEBS: persistent memory": (source(number=0xE), LOCAL),
    "PEBS: persistent memory of another socket": (source(number=0xE, remote=1), REMOTE),
    # ... and IBS in arch/x86/events/amd/ibs.c, before and after Linux 6.7.
    "IBS: local memory": (source(HIT | LOCAL_RAM), LOCAL),
    "IBS: remote memory": (source(HIT | REMOTE_RAM), REMOTE),
    "IBS: L3 or a cache beside it": (source(HIT | L3 | ONE_HOP), CACHE),
    "IBS: the same, later": (source(HIT | L3 | ONE_HOP, 0xB, hops=1), CACHE),
    "IBS: a cache of the same node": (source(HIT | ONE_HOP), CACHE),
    "IBS: the same of Zen 4, later": (source(HIT | ONE_HOP, 0xB, remote=1, hops=1), CACHE),
    "IBS: a cache of another node": (source(HIT | TWO_HOPS), REMOTE),
    "IBS: the same, later ": (source(HIT | TWO_HOPS, 0xB, remote=1, hops=2), REMOTE),
    "IBS: memory behind CXL": (source(number=0x9), REMOTE),
    "IBS: a device": (source(HIT | 0x1000, 0xA), UNKNOWN),
}


@pytest.mark.parametrize("case", CASES)
def test_a_load_is_served_by(case: str) -> None:
    number, served = CASES[case]
    assert served_by(number) == served


@given(st.integers(0, 2**64 - 1))
def test_every_number_has_an_answer_and_only_loads_are_served(number: int) -> None:
    served = served_by(number)
    assert served in (UNKNOWN, CACHE, LOCAL, REMOTE)
    assert number & 0x6 == 0x2 or served == UNKNOWN
