"""The figures that documents quote of other people's measurements (MCTOP), with sister programs apart and together."""

import csv
import os
import tempfile
from pathlib import Path

import msgspec

from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.data.foreign_table import TableColumns
from numapredict.collect.data.table_import import About, import_table
from numapredict.collect.modelled.description import load_description
from numapredict.predictor.evaluation.evaluate import evaluate_held_out
from numapredict.predictor.evaluation.evaluation_session import sources_for
from numapredict.predictor.learning.learning import options_of
from tests.benchmarks.measured_counterparts import counterparts_of
from tests.golden.evaluations.figures import OURS, Quoted, quoted

FILE = Path(__file__).parent / "measured.json"
SHARED = Path(os.environ.get("NUMAPREDICT_SHARED", Path(__file__).resolve().parents[4] / "shared"))
RUNTIMES = SHARED / "datasets" / "mctop" / "runtimes.csv"
DEFAULTS = {"lpdquad": "NONE-96", "lpd48core": "NONE-48", "lpdxeon2680": "NONE-40"}
SISTERS = {
    **dict.fromkeys(("wc", "wr", "wrmem", "wsearchmem"), "words"),
    **dict.fromkeys(("matrix_mult", "matrix_mult2"), "matrix"),
}
"""Codes of Metis that are one code base, by their sources."""


class Measured(msgspec.Struct, frozen=True):
    """One machine's scores with its groups of programs, by ways of choosing."""

    groups: int
    scores: dict[str, Quoted]


def imported(machine: str, into: Path, *, together: bool) -> Dataset:
    """Return a machine's run times as `collect import` makes a dataset of them, sister programs together or apart."""
    columns = TableColumns(
        program=("code", "input"),
        mapping=("policy", "threads"),
        time="time_ms",
        unit_s=1e-3,
        group=None if together else "code",
        where=(("machine", machine),),
        drop_if=(("suspect", "1"),),
    )
    groups = into / "groups.csv"
    into.mkdir()
    with RUNTIMES.open(newline="") as table, groups.open("w", newline="") as file:
        codes = {
            f"{row['code']} {row['input']}": row["code"] for row in csv.DictReader(table) if row["machine"] == machine
        }
        csv.writer(file).writerows([("program", "group"), *((p, SISTERS.get(code, code)) for p, code in codes.items())])
    import_table(
        RUNTIMES, into / "data", columns, About(default=DEFAULTS[machine], groups=groups if together else None)
    )
    return read_dataset(into / "data")


def measured(machine: str) -> dict[str, Measured]:
    """Return a machine's scores with sister programs "apart" and "together"."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("apart", "together"):
            dataset = imported(machine, Path(folder) / name, together=name == "together")
            mappings = tuple(dict.fromkeys(each.mapping for each in dataset.measurements))
            counterparts = counterparts_of(mappings, load_description(machine).topology)
            dataset = msgspec.structs.replace(dataset, counterparts=counterparts)
            options, sources = options_of(None, None, dataset), sources_for(dataset, without_machine=False)
            evaluation = evaluate_held_out(dataset, options, sources=sources)
            others = {each: quoted(evaluation.baselines[each]) for each in ("fixed", "search of 2 runs")}
            scores = {OURS: quoted(evaluation), **others}
            found[name] = Measured(groups=evaluation.groups, scores=scores)
    return found
