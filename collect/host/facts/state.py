"""The state of the computer that is noted with each measurement: the facts that a moment's look gives."""

from pathlib import Path

from numapredict.collect.host.environment import ROOT, memory_settings
from numapredict.collect.host.facts.memory import free_memory
from numapredict.collect.host.facts.processors import governor, threads_a_core, turbo


def machine_state(root: Path = ROOT) -> tuple[tuple[str, str], ...]:
    """Return governor, turbo, SMT, free memory, automatic NUMA balancing and huge pages of now, as pairs."""
    facts = (ask(root) for ask in (governor, turbo, threads_a_core, free_memory))
    return (*((fact.name.replace(" ", "_"), fact.value) for fact in facts), *memory_settings(root))
