"""Campaign time: roughly how long one processor core takes for the traces and the modelled runs of a program.

The figures are processor time, measured for 14 of the 64 codelets on rome-2x64 and rome-8x16, on a busy computer. A
trace took 1 to 22 s, 6 s on average, mostly independent of the number of threads; in the campaign of all codelets on
broadwell-2x10 it took 3.7 s, runs included. The constant is between the two. A run took 3 to 20 ms with up
to 32 threads on 2 nodes, 10 to 25 ms with 256, and up to twice that on 8 nodes; with 60 phases instead of 6 up to
190 ms.
"""

from collections.abc import Sequence

from numapredict.collect.mapping import Mapping

TRACE_S, TRACE_THREAD_S = 4.5, 0.003
RUN_S, RUN_THREAD_S, RUN_NODE_S = 0.003, 70e-6, 0.0015


def campaign_time_s(traces: Sequence[int], mappings: Sequence[Mapping], nodes: int) -> float:
    """Return the seconds of one core for a program's missing traces, by their threads, and its runs on a machine.

    ``nodes``: of the machine.
    """
    traces_s = sum(TRACE_S + TRACE_THREAD_S * threads for threads in traces)
    return traces_s + sum(RUN_S + RUN_THREAD_S * mapping.threads + RUN_NODE_S * nodes for mapping in mappings)
