"""A characterisation as CSV tables: the times of figures 8 to 10, every run, and every node's counters."""

import csv
import io
from collections.abc import Iterable, Sequence

import msgspec

from numapredict.collect.campaign.characterisation.result import Characterisation
from numapredict.collect.mapping import CHOICES, parse_label
from numapredict.collect.measurement import NodeCounters


def times_csv(found: Characterisation) -> str:
    """Return CSV with a row per cell of the tables: the mapping requested, the equal one that was run, and its time."""
    rows = [
        (table.thread_policy, table.page_policy, table.threads_per_core, threads, nodes, mapping, time_s)
        for table in found.tables
        for threads, mappings, times_s in zip(table.threads, table.mappings, table.times_s, strict=True)
        for nodes, mapping, time_s in zip(table.thread_nodes, mappings, times_s, strict=True)
        if mapping is not None
    ]
    names = ("thread_policy", "page_policy", "threads_per_core", "threads", "thread_nodes", "mapping", "time_s")
    return _written(names, rows)


def runs_csv(found: Characterisation) -> str:
    """Return CSV with a row per run, fastest first."""
    figures = ("time_s", "process_time_s", "region_time_s", "spread", "slowdown", "local_share")
    rows = [
        (
            run.mapping,
            *parse_label(run.mapping).choices,
            run.status,
            *(getattr(run, name) for name in figures),
            run.message,
        )
        for run in found.runs
    ]
    return _written(("mapping", *CHOICES, "status", *figures, "message"), rows)


def nodes_csv(found: Characterisation) -> str:
    """Return CSV with a row per run and node: accesses in cache lines, bandwidths in GB/s."""
    rows = [
        (run.mapping, number, *msgspec.structs.astuple(node))
        for run in found.runs
        for number, node in enumerate(run.nodes)
    ]
    return _written(("mapping", "node", *NodeCounters.__struct_fields__), rows)


def _written(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()
