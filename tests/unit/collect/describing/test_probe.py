import json
import os
import signal
import statistics
import subprocess
import time

import pytest

from numapredict.collect.describing.probe import Question, run_probe
from numapredict.native.errors import UnrunnableProgramError
from numapredict.native.library import probe_program

PU = min(os.sched_getaffinity(0))


def test_a_question_has_the_words_of_its_subject() -> None:
    assert Question("team", (0, 1, 2, 8)).words(5, 20) == ("team", "0-2,8", "5", "20")
    assert Question("latency", (3,), 1, 1 << 20).words(1, 2) == ("latency", "3", "1", "2", "1", "1048576")


@pytest.mark.native
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("latency", "0", "1", "1", "-1", "5000"), "usage: numapredict-probe"),
        (("frequency", "99999", "1", "1"), "^measuring frequency on PUs 99999: usage: numapredict-probe"),
        (("latency", str(PU), "1", "1", "4000", "65536"), "cannot bind memory to"),
        (("latency", str(PU), "1", "1", "-1", str(1 << 55)), "cannot map memory: Cannot allocate memory"),
    ],
)
def test_what_the_probe_refuses_gets_its_line(words: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UnrunnableProgramError, match=complaint):
        run_probe(words)


@pytest.mark.native
def test_other_settings_of_openmp_are_not_for_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_THREAD_LIMIT", "1")
    monkeypatch.setenv("OMP_DISPLAY_ENV", "true")
    both = sorted(os.sched_getaffinity(0))[:2]
    answer = run_probe(Question("team", tuple(both)).words(3, 1))
    assert list(answer.figures) == ["fork_join_us", "barrier_us", "atomic_ns", "lock_ns"]
    assert all(len(values) == 3 and min(values) > 0 for values in answer.figures.values())


@pytest.mark.native
@pytest.mark.parametrize(
    ("question", "figures"),
    [
        (Question("latency", (PU,), -1, 1 << 20), 1),
        (Question("cache", (PU,), -1, 1 << 16), 1),
        (Question("bandwidth", (PU,), -1, 3 << 20), 4),
        (Question("frequency", (PU,)), 1),
        (Question("work", (PU,)), 1),
    ],
)
def test_each_subject_gives_a_value_a_round(question: Question, figures: int) -> None:
    answer = run_probe(question.words(2, 1))
    assert len(answer.figures) == figures
    assert all(len(values) == 2 and min(values) > 0 for values in answer.figures.values())


def median_of(question: Question, *, stopped: bool) -> float:
    """Return the median of rounds of 10 ms; a probe that is stopped runs for a tenth of the time or so."""
    words = [str(probe_program()), *question.words(20, 10)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as probe:
        while stopped and probe.poll() is None:
            for number, pause_s in ((signal.SIGSTOP, 0.009), (signal.SIGCONT, 0.0003)):
                probe.send_signal(number)
                time.sleep(pause_s)
        out, _ = probe.communicate()
    (values,) = json.loads(out)["figures"].values()
    return statistics.median(values)


@pytest.mark.native
def test_what_takes_the_processor_away_is_not_counted() -> None:
    question = Question("frequency", (PU,))
    assert median_of(question, stopped=True) > median_of(question, stopped=False) / 2
