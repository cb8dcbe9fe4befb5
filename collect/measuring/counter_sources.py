"""All sources of counters, in the order in which they are preferred."""

from numapredict.collect.measuring.counters.likwid.source import LikwidSource
from numapredict.collect.measuring.counters.perf.source import PerfSource
from numapredict.collect.measuring.counters.resctrl.source import ResctrlSource
from numapredict.collect.measuring.counters.source import CounterSource
from numapredict.collect.topology import Topology


def all_sources(topology: Topology) -> tuple[CounterSource, ...]:
    """Return every source that numapredict supports, whether it can count here or not.

    LIKWID is first, as its event tables are maintained best; resctrl last, as it counts by cache domain, not by core.
    """
    return (LikwidSource(topology), PerfSource(topology), ResctrlSource(topology))
