"""Evaluate the shipped datasets, and measured ones where they are at hand, and write what documents quote of them."""

import msgspec

from numapredict.collect.mapping import to_label
from numapredict.predictor.evaluation.evaluation_session import evaluate_datasets
from tests.golden.evaluations import measured
from tests.golden.evaluations.figures import FILE, judged

DATASETS = ("sandybridge-4x8", "broadwell-2x10", "lpdquad", "lpd48core")

if __name__ == "__main__":
    found = {evaluation.machine: judged(evaluation) for evaluation in evaluate_datasets(DATASETS).datasets}
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found, enc_hook=to_label)) + b"\n")
    if measured.RUNTIMES.exists():
        others = {machine: measured.measured(machine) for machine in measured.DEFAULTS}
        measured.FILE.write_bytes(msgspec.json.format(msgspec.json.encode(others, enc_hook=to_label)) + b"\n")
