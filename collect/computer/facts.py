"""All facts of this computer that measuring depends on, in the order in which a person would ask."""

import time
from collections.abc import Callable
from pathlib import Path

from numapredict.collect.computer.fact import Fact
from numapredict.collect.computer.limits import allowed_pus, memory_limit, processor_quota
from numapredict.collect.computer.load import look
from numapredict.collect.computer.memory import free_memory, huge_pages, numa_balancing
from numapredict.collect.computer.processors import governor, threads_a_core, turbo
from numapredict.collect.computer.surroundings import container, emulated, virtual_machine


def facts(root: Path = Path("/"), wait: Callable[[float], None] = time.sleep) -> tuple[Fact, ...]:
    """Return the facts, read from files alone; ``root`` stands for /, and ``wait`` for half a second, in tests."""
    return (
        *(ask(root) for ask in (emulated, virtual_machine, container)),
        *(ask(root) for ask in (allowed_pus, processor_quota, memory_limit)),
        *(ask(root) for ask in (governor, turbo, threads_a_core)),
        *(ask(root) for ask in (numa_balancing, huge_pages, free_memory)),
        *look(root, wait),
    )
