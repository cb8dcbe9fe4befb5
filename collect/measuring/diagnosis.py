"""What `numapredict doctor` finds: the computer, what disturbs measurements, which counters can be trusted."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.facts.allocation import Allocation, allocation
from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.facts.facts import facts
from numapredict.collect.measuring.counters.calibration import Examined, examine, write_calibrations
from numapredict.collect.measuring.counters.source import CounterSource
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.topology import Topology


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a computer, as `--json` prints it.

    ``allocation`` is None where this process may use all of the computer, or where the kernel does not report it.
    ``counters`` is the name of the source that measurements will use, None for none; ``sources`` the state of all.
    """

    machine: str
    nodes: int
    cores: int
    allocation: Allocation | None
    facts: tuple[Fact, ...]
    counters: str | None
    sources: tuple[Examined, ...]


def diagnose(topology: Topology, sources: Sequence[CounterSource]) -> Diagnosis:
    """Return the diagnosis of this computer; its counters are tested on known loads, and the results kept."""
    found = facts()
    with MeasurementLock().take():
        examined = examine(sources, topology)
    write_calibrations(cache_folder(), topology, examined)
    given = allocation(topology)
    return Diagnosis(
        machine=topology.name,
        nodes=len(topology.nodes),
        cores=topology.core_count,
        allocation=given if given is not None and given.restricts else None,
        facts=found,
        counters=next((source.name for source in examined if source.believed), None),
        sources=examined,
    )
