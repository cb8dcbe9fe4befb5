import struct

from numapredict.collect.capturing.exchange import outcome_of, question_of
from numapredict.collect.capturing.order import MOST_REGIONS, Succession, order_of, succession_of


def packet(count: int, *others: int, key: int = 7, process: int = 9) -> bytes:
    keys = [*others, *[0] * (MOST_REGIONS - len(others))]
    return struct.pack(f"=QQII{MOST_REGIONS}Q", count, key, process, len(others), *keys)


def test_a_packet_is_a_region_with_the_others_before_it_and_nothing_else() -> None:
    own = packet(12, 2**64 - 1, 3)
    assert succession_of(own) == Succession(7, (2**64 - 1, 3), 12, 9)
    assert question_of(own) is None
    assert outcome_of(own) is None
    assert succession_of(own + b"\0") is None


def test_an_order_is_known_where_one_process_told_all_of_it() -> None:
    first, second = Succession(1, (2,), 3, 9), Succession(2, (1,), 3, 9)
    assert order_of([first, second]) == (first, second)
    assert order_of([]) is None
    assert order_of([first, Succession(0, (), 0, 9)]) is None
    assert order_of([first, Succession(2, (1,), 3, 10)]) is None
