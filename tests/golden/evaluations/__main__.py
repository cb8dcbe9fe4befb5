"""Evaluate the shipped datasets, and measured ones where they are at hand; write what documents quote and ships."""

import msgspec

from numapredict.collect.mapping import to_label
from numapredict.predictor.evaluation.evaluation_session import evaluate_datasets
from tests.golden.evaluations import measured
from tests.golden.evaluations.figures import FILE, judged
from tests.golden.evaluations.shipped import file_of, shipped_form

DATASETS = ("sandybridge-4x8", "broadwell-2x10", "lpdquad", "lpd48core")

if __name__ == "__main__":
    evaluations = evaluate_datasets(DATASETS).datasets
    for each in evaluations:
        file_of(each.machine).write_bytes(shipped_form(each))
    found = {evaluation.machine: judged(evaluation) for evaluation in evaluations}
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found, enc_hook=to_label)) + b"\n")
    if measured.RUNTIMES.exists():
        others = {machine: measured.measured(machine) for machine in measured.DEFAULTS}
        measured.FILE.write_bytes(msgspec.json.format(msgspec.json.encode(others, enc_hook=to_label)) + b"\n")
