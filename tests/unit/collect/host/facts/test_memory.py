"""Facts of the memory, from planted files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.facts.memory import free_memory, huge_pages, numa_balancing
from tests.unit.collect.host.facts.asked import asked, assert_fact


def meminfo(node: int, total_kB: int, free_kB: int, files_kB: int = 0) -> dict[str, str]:
    text = (
        f"Node {node} MemTotal:       {total_kB} kB\nNode {node} MemFree:        {free_kB} kB\n"
        f"Node {node} MemUsed:        {total_kB - free_kB} kB\nNode {node} FilePages:      {files_kB} kB\n"
    )
    return {f"sys/devices/system/node/node{node}/meminfo": text}


TWO_NODES = meminfo(0, 1 << 21, 1 << 20) | meminfo(1, 1 << 21, 1 << 20)


@pytest.mark.parametrize(
    ("ask", "files", "value", "disturbs"),
    [
        (numa_balancing, TWO_NODES, "not in this kernel", False),
        (numa_balancing, {**TWO_NODES, "proc/sys/kernel/numa_balancing": "0\n"}, "off", False),
        (numa_balancing, {**TWO_NODES, "proc/sys/kernel/numa_balancing": "1\n"}, "on", True),
        (numa_balancing, {**TWO_NODES, "proc/sys/kernel/numa_balancing": "2\n"}, "2", True),
        (numa_balancing, {**meminfo(0, 9, 9), "proc/sys/kernel/numa_balancing": "1\n"}, "on", False),
        (
            huge_pages,
            {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"},
            "always",
            False,
        ),
        (free_memory, {}, "unknown", False),
        (free_memory, TWO_NODES, "node 0 1.0 of 2.0 GiB, node 1 1.0 of 2.0 GiB", False),
    ],
)
def test_a_fact(tmp_path: Path, ask: Callable[[Path], Fact], files: dict[str, str], value: str, disturbs: bool) -> None:
    assert_fact(asked(ask, tmp_path, files), value, disturbs)


def test_a_full_node_among_others(tmp_path: Path) -> None:
    fact = asked(free_memory, tmp_path, meminfo(0, 1000, 500) | meminfo(2, 1000, 99))
    assert fact.disturbs
    assert "node 2 may go elsewhere" in fact.why
    assert "numastat" in fact.remedy
    with_files = asked(free_memory, tmp_path, meminfo(2, 1000, 99, files_kB=800))
    assert "drop_caches" in with_files.remedy
    assert not asked(free_memory, tmp_path, meminfo(2, 1000, 100)).disturbs


def test_a_full_only_node_displaces_nothing(tmp_path: Path) -> None:
    assert not asked(free_memory, tmp_path, meminfo(0, 1000, 1)).disturbs


def test_a_node_without_memory_is_not_full(tmp_path: Path) -> None:
    fact = asked(free_memory, tmp_path, TWO_NODES | meminfo(2, 0, 0))
    assert not fact.disturbs
    assert "node 2" not in fact.value
