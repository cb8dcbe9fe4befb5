"""The state machine keeps what gains, leaves what does not, within its budget; its rule is Python's."""

import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

from numapredict.predictor.adapting.candidates import candidate_columns
from numapredict.predictor.searching.gains_file import read_gains
from numapredict.predictor.searching.known_gains import KnownGains, known_gains
from numapredict.predictor.searching.next_run import next_run
from numapredict.predictor.searching.prior import shipped_file
from tests.adapting import ROOT, SOURCES, Case, Decisions
from tests.preloaded import GCC

pytestmark = pytest.mark.skipif(not GCC, reason="gcc is not installed")


@pytest.fixture(scope="module")
def decisions(tmp_path_factory: pytest.TempPathFactory) -> Decisions:
    return Decisions(tmp_path_factory.mktemp("decisions"))


def tables() -> list[KnownGains]:
    """Return the tables of the shipped machines' own programs, their first groups left out."""
    found = []
    for machine in read_gains(shipped_file()):
        keep = [row for row, group in enumerate(machine.groups) if group != machine.groups[0]]
        known = known_gains(machine.gains[keep], [machine.groups[row] for row in keep])
        columns = list(candidate_columns(known, machine.mappings.index(machine.default), range(len(machine.mappings))))
        found.append(KnownGains(known.gains[:, columns].astype(np.float32).astype(float), *_rest(known)))
    return found


def _rest(known: KnownGains) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    return known.weights.astype(np.float32).astype(float), known.groups, known.machines


def test_the_state_machine_under_sanitizers(tmp_path: Path) -> None:
    program = tmp_path / "decisions"
    sources = [ROOT / "tests" / "native" / "decisions.c", *SOURCES[1:]]
    options = ("-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")
    include = ("-fno-sanitize-recover=all", "-I", str(ROOT / "native" / "placement"))
    subprocess.run([GCC, *options, *include, "-o", program, *sources, "-lm"], check=True)
    done = subprocess.run([program], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_next_trial_is_the_searchs_next_run(decisions: Decisions) -> None:
    draw = np.random.default_rng(1)
    for known in tables():
        for row in draw.integers(0, len(known.gains), 8):
            columns, gains, ended = [0], [0.0], [False]
            while True:
                wanted = next_run(known, columns, gains, ended)
                column, expected = decisions.next_column(known, columns, gains, ended)
                if wanted is None:
                    assert column == -1
                    break
                assert column == wanted.column
                assert expected == pytest.approx(wanted.expected_gain, abs=1e-9)
                cut = bool(draw.integers(0, 2))
                gains.append(math.nan if draw.integers(0, 8) == 0 else float(known.gains[row, column] + 0.1 * cut))
                columns.append(column)
                ended.append(cut)


def test_no_program_of_the_shipped_machines_loses_over_four_percent(decisions: Decisions) -> None:
    draw, slowest, gained = np.random.default_rng(2), 0.0, 0.0
    for known in tables():
        for row in range(0, len(known.gains), 9):
            case = Case(
                time_ns=(1e6 * 2 ** -known.gains[row])[:, None],
                instances=10_000,
                pages=list(range(known.gains.shape[1])),
                pages_ns=40e6,
                noise=np.exp(0.03 * draw.standard_normal(4096)),
            )
            played = decisions.play(known, case)
            slowest = max(slowest, played.time_ns / played.baseline_ns - 1)
            gained += math.log2(played.baseline_ns / played.time_ns)
    assert slowest < 0.04
    assert gained > 1
