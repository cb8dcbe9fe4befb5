import pytest

from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.remedy import Remedy
from numapredict.predictor.variables.requests import Requests
from numapredict.predictor.variables.variable import Variable, Variables
from numapredict.predictor.variables.variables_text import requests_in_words, variables_in_words


def answer(size_bytes: int) -> Variables:
    variable = Variable(
        name="grid",
        kind="allocated",
        size_bytes=size_bytes,
        allocations=1,
        allocated=None,
        through="",
        by_container=False,
        touches=40,
        touch_share=1.0,
        first_touch=None,
        first_thread=None,
        first_manner="supposed",
        first_schedule="",
        pattern=Pattern("shared", 4),
        other_threads_share=0.75,
        remote_share=None,
        cost=0.75,
        remedy=Remedy("interleave", "interleave this one"),
    )
    return Variables(
        command=("./app",),
        profile=None,
        threads=4,
        machine=None,
        mapping=None,
        modelled=False,
        exit_code=0,
        region_time_s=1.0,
        touches=40,
        variables=(variable,),
    )


@pytest.mark.parametrize(
    ("size_bytes", "text"), [(65_536, "64 KiB"), (96 << 20, "96 MiB"), (1040 << 20, "1.02 GiB"), (24 << 30, "24 GiB")]
)
def test_sizes_are_written_in_the_unit_that_reads_best(size_bytes: int, text: str) -> None:
    assert f"grid, {text}\n" in variables_in_words(answer(size_bytes))


def test_requests_name_the_node_that_serves_most() -> None:
    served = Requests(local=20.4, remote=79.6, nodes=(0, 5), by_node=(10.0, 90.0), imbalance=1.8)
    assert requests_in_words(served) == "20 local, 80 remote; node 5 serves 90%, 1.8 times an even part"
