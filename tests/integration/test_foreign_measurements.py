"""Real measurements of other people's programs on real NUMA machines, where they are at hand."""

import csv
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.mapping import mapping_named
from numapredict.collect.program import Program
from numapredict.predictor.evaluation.search_curve import own_knowledge, searched
from numapredict.predictor.learning.features import Observations

FOLDER = Path(os.environ.get("NUMAPREDICT_SHARED", Path(__file__).resolve().parents[3] / "shared"))
RUNTIMES = FOLDER / "datasets" / "mctop" / "runtimes.csv"


def observations_of(machine: str) -> Observations:
    """Return the codes that ran under every thread placement of a machine; its labels are not ours."""
    times: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    with RUNTIMES.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["machine"] == machine:
                label = f"{row['policy']}/{row['threads']}"
                times[row["code"], row["input"]][label] = float(row["time_ms"]) / 1000
    labels = sorted(set.union(*(set(found) for found in times.values())))
    complete = {key: found for key, found in times.items() if len(found) == len(labels)}
    return Observations(
        programs=tuple(Program(name=f"{code} {text}", command=(code,), group=code) for code, text in complete),
        mappings=tuple(map(mapping_named, labels)),
        time_s=np.array([[found[label] for label in labels] for found in complete.values()]),
    )


@pytest.mark.shared
@pytest.mark.skipif(not RUNTIMES.exists(), reason="the foreign measurements (datasets/mctop) are not here")
@pytest.mark.parametrize("machine", ["lpdquad", "lpdxeon2680"])
def test_a_search_of_two_runs_gains_over_unpinned_threads_for_programs_held_out(machine: str) -> None:
    observations = observations_of(machine)
    threads = max(int(mapping.label.split("/")[1]) for mapping in observations.mappings)
    default = observations.column(mapping_named(f"NONE/{threads}"))
    found = searched(observations, default, own_knowledge(observations, default))
    assert len(observations.programs) >= 15
    assert 0 <= found.gain[:, 1].mean() < found.gain[:, 3].mean()
