import os

from numapredict.collect.placing.tail import Tail


def test_the_end_of_a_pipe_is_kept_however_much_comes() -> None:
    outlet, inlet = os.pipe()
    tail = Tail(outlet, 10)
    for number in range(500):
        os.write(inlet, f"{number:04d}".encode())
        assert tail.read()
    assert not tail.read()  # nothing is there, and it does not wait
    os.write(inlet, b"end")
    os.close(inlet)
    assert tail.drained() == b"4980499end"
    os.close(outlet)


def test_a_chunk_larger_than_what_is_kept_is_cut() -> None:
    outlet, inlet = os.pipe()
    os.write(inlet, b"abcdefgh")
    assert Tail(outlet, 3).drained() == b"fgh"
    os.close(inlet)
    os.close(outlet)
