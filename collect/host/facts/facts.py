"""All facts of this computer that affect measurements, and its state: those noted with each measurement."""

import time
from collections.abc import Callable
from pathlib import Path

from numapredict.collect.host.environment import ROOT, memory_settings
from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.facts.limits import allowed_pus, memory_limit, processor_quota
from numapredict.collect.host.facts.load import look
from numapredict.collect.host.facts.memory import free_memory, huge_pages, numa_balancing
from numapredict.collect.host.facts.processors import governor, threads_a_core, turbo
from numapredict.collect.host.facts.surroundings import container, emulated, virtual_machine


def facts(root: Path = Path("/"), wait: Callable[[float], None] = time.sleep) -> tuple[Fact, ...]:
    """Return the facts, read from files alone; in tests ``root`` replaces /, and ``wait`` the wait of half a second."""
    return (
        *(ask(root) for ask in (emulated, virtual_machine, container)),
        *(ask(root) for ask in (allowed_pus, processor_quota, memory_limit)),
        *(ask(root) for ask in (governor, turbo, threads_a_core)),
        *(ask(root) for ask in (numa_balancing, huge_pages, free_memory)),
        *look(root, wait),
    )


def machine_state(root: Path = ROOT) -> tuple[tuple[str, str], ...]:
    """Return the current governor, turbo, SMT, free memory, automatic NUMA balancing and huge pages, as pairs."""
    facts = (ask(root) for ask in (governor, turbo, threads_a_core, free_memory))
    return (*((fact.name.replace(" ", "_"), fact.value) for fact in facts), *memory_settings(root))
