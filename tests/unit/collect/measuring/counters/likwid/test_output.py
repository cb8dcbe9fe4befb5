import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.measuring.counters.likwid.output import read_output
from numapredict.native.errors import CounterError
from tests.golden.likwid.recorded import recorded

TWO_PUS = """STRUCT,Info,3,,,
CPU name:,A name, with commas,,,
TABLE,Group 1 Raw,NUMA,2,,
Event,Counter,HWThread 3,HWThread 12,,
A,PMC0,1,2,,
B,PMC1,3,-,,
TABLE,Group 1 Raw STAT,NUMA,1,,
Event,Counter,Sum,Min,Max,Avg
A STAT,PMC0,3,1,2,1.5000
TABLE,Group 1 Metric,NUMA,2,,
Metric,HWThread 3,HWThread 12,,,
Local data volume [GByte],2.5,1e-06,,,
Remote data volume [GByte],nan,inf,,,
"""


def test_events_and_metrics_are_read_by_pu() -> None:
    output = read_output(TWO_PUS)
    assert output.pus == (3, 12)
    assert [(row.name, row.counter, row.values) for row in output.events] == [
        ("A", "PMC0", (1.0, 2.0)),
        ("B", "PMC1", (3.0, None)),
    ]
    assert [row.values for row in output.metrics] == [(2.5, 1e-06), (None, None)]
    remote = output.metric(re.compile("Remote .*"))
    assert remote is not None
    assert remote.values == (None, None)
    assert output.metric(re.compile("Remote")) is None


def test_older_names_of_columns_and_titles_without_the_group_are_read() -> None:
    older = TWO_PUS.replace("HWThread", "Core").replace("Raw,NUMA,", "Raw,").replace("Metric,NUMA,", "Metric,")
    assert read_output(older) == read_output(TWO_PUS)


def test_line_ends_of_other_systems_are_read() -> None:
    assert read_output(TWO_PUS.replace("\n", "\r\n")) == read_output(TWO_PUS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "wrote no figures"),
        (" \n", "wrote no figures"),
        ("Cannot get access to MSRs\n", "no table of events"),
        (TWO_PUS[: TWO_PUS.index("TABLE,Group 1 Metric")], "no table of metrics"),
        (TWO_PUS[: TWO_PUS.index("Remote")], "cut short in line 10: the table there should have 2 rows"),
        (TWO_PUS[: TWO_PUS.index("Metric,HWThread")], "cut short"),
        (TWO_PUS[: TWO_PUS.index("nan,inf")], "cut short"),
        (TWO_PUS.replace("1,2,,", "1,two,,"), "'A' is 'two'"),
        (TWO_PUS.replace("HWThread 3,HWThread 12,,,", "HWThread 3,HWThread 13,,,"), "contradicts itself"),
        (TWO_PUS.replace("HWThread 12", "HWThread 3"), "columns that are no PUs"),
        (TWO_PUS.replace("HWThread 12", "GPU 1"), "columns that are no PUs"),
        (TWO_PUS + TWO_PUS.replace("Group 1", "Group 2"), "more than one group"),
        (TWO_PUS.replace("Raw,NUMA,2", "Raw,NUMA,x"), "cut short"),
        (TWO_PUS.replace("A,PMC0,1,2,,", "A,PMC0,1"), "'A' has 2 cells, not 3"),
        (TWO_PUS + "x" * 200_000 + "\n", "no table"),
        (TWO_PUS.rstrip("\n"), "its last line has no end"),
    ],
)
def test_what_is_no_output_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(CounterError, match=re.escape(said)) as caught:
        read_output(text)
    assert "\n" not in str(caught.value)


@given(st.data())
def test_a_damaged_output_is_read_or_refused_and_never_a_crash(data: st.DataObject) -> None:
    _, text = recorded("haswell-numa-no-value")
    lines = text.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at] = data.draw(
            st.sampled_from([lines[at][:7], "", ",,,", '"', "TABLE", "\0", lines[0], lines[-1], "x" * 200])
        )
    with contextlib.suppress(CounterError):
        read_output("\n".join(lines))
