"""A mapping in words."""

from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import FACTS
from numapredict.collect.terminal.printable import counted


def on_each_core(threads: int) -> str:
    """Return the words for several threads on each core, with a comma before them; empty for one."""
    return f", {threads} threads on each core" if threads > 1 else ""


def over_l3s(caches: int) -> str:
    """Return the words for threads spread over so many L3 caches, with a comma before them; empty for none."""
    return f", spread over {counted(caches, 'L3 cache')}" if caches else ""


def mapping_in_words(mapping: Mapping) -> str:
    """Return what a mapping means, as part of a sentence."""
    threads, nodes = counted(mapping.threads, "thread"), counted(mapping.thread_nodes, "node")
    across = "the nodes" if mapping.thread_nodes > 1 else "the caches" if mapping.thread_l3s else ""
    spread = f"round-robin across {across}" if mapping.thread_policy == "scatter" else "consecutive threads together"
    spread = over_l3s(mapping.thread_l3s) + on_each_core(mapping.threads_per_core) + (f", {spread}" if across else "")
    where = counted(mapping.page_nodes, "node")
    there = "on the first of them" if mapping.thread_nodes > 1 else "there"
    pages = FACTS[mapping.page_policy].sentence.format(nodes=where, there=there)
    return f"{threads} on {nodes}{spread}; {pages}"
