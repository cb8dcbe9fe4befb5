"""What all tests share: caches of their own, which of them are thorough, and what was skipped and why."""

import importlib
import logging
import os
import shutil
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from numapredict.collect.host.lock_folder import FOLDER_VARIABLE
from tests.capabilities import TESTS, is_thorough

FOREIGN = Path(os.environ.get("NUMAPREDICT_SHARED", Path(__file__).parents[2] / "shared")) / "datasets"
# The variable that CI services set, and .ci/run. There a test that cannot run has failed.
IN_CI = os.environ.get("CI", "").lower() not in {"", "0", "false"}
TOOLS = {
    "qemu-x86_64": "qemu-user",
    "gcc": "gcc",
    "gfortran": "gfortran",
    "clang": "clang, and libomp-dev for its OpenMP",
    "cmake": "cmake",
    "git": "git",
    "lstopo-no-graphics": "hwloc",
    "numactl": "numactl",
    "likwid-perfctr": "likwid",
    "likwid-pin": "likwid",
    "perf": "linux-perf",
    "chromium": "chromium",
    "chromedriver": "chromium-driver",
    "mandoc": "mandoc",
    "zsh": "zsh",
    "fish": "fish",
    "mpicc.openmpi": "libopenmpi-dev",
    "mpirun.openmpi": "openmpi-bin",
    "mpicc.mpich": "libmpich-dev",
    "mpirun.mpich": "mpich",
}
# Reasons that lie in the computer or in the test, not in something that was left out of the set-up.
GOOD_REASONS = (
    "shared/ is absent",
    "the foreign measurements",
    "root writes everywhere",
    "the superuser may read everything",
    "one core has one order only",
    "only root can give a file to another user",
    "only root can become a user",
    "only modelled machines run in several processes",
    "no control group can be made here",
    "only root can become another user",
    "the kernel does not let this user have a userfaultfd",
    "no file system can be mounted here",
)

LONGEST_FIRST = {"guest": 0, "slurm": 1, "integration": 2}

# No test is judged by the clock, however busy the computer is.
hypothesis.settings.register_profile(
    "unhurried", hypothesis.settings.default, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")


def pytest_sessionstart() -> None:
    """Stop CI at once, with one line, where a tool is missing that the tests need."""
    missing = [f"{tool} (package {package})" for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if IN_CI and missing:
        pytest.exit(f"not installed, and nothing may be skipped in CI: {', '.join(missing)}", returncode=3)


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start what takes longest first: a guest that boots last would leave the other processes idle."""
    items.sort(key=lambda item: LONGEST_FIRST.get(item.path.relative_to(TESTS).parts[0], len(LONGEST_FIRST)))
    for item in items:
        if is_thorough(item.path):
            item.add_marker(pytest.mark.thorough)
        if item.get_closest_marker("shared") and not FOREIGN.is_dir():
            item.add_marker(pytest.mark.skip(reason=f"shared/ is absent: no {FOREIGN}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped and why, a line a reason."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", ()))
    if reasons:
        terminalreporter.section("skipped")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} skipped: {reason}")


def _reason(report: pytest.TestReport) -> str:
    given = report.longrepr
    return str(given[2] if isinstance(given, tuple) else given).removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        if not reason.startswith(GOOD_REASONS):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: skipped in CI, where everything must run: {reason}"
    return report


@pytest.fixture(scope="session", autouse=True)
def folders_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's traces and models out of the tests, and the tests' out of the user's folders.

    All processes of the tests share their traces and evaluations, as a user's commands do: none is made twice.
    """
    own = tmp_path_factory.getbasetemp()
    cache = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "numapredict-cache"
    cache.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMAPREDICT_CACHE", str(cache))
        patch.setenv("NUMAPREDICT_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session", autouse=True)
def environment_as_given() -> None:
    """Start no program with what scikit-learn sets in this process, once (collect/host/given_environment.py)."""
    importlib.import_module("sklearn")
    for name in ("KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"):
        os.environ.pop(name, None)


class Lines(logging.Handler):
    """Keeps the lines that are logged."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.kept.append(record.getMessage())


@pytest.fixture
def said() -> Iterator[list[str]]:
    """Give the lines that numapredict logs during a test, without details."""
    lines, log = Lines(), logging.getLogger("numapredict")
    before = log.level
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    yield lines.kept
    log.setLevel(before)
    log.removeHandler(lines)


@pytest.fixture(scope="session", autouse=True)
def locks_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no test wait until another process of the tests has measured, nor miss PUs that another's programs have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(tmp_path_factory.mktemp("locks")))
        yield


@pytest.fixture(scope="session", autouse=True)
def signals_as_on_a_terminal() -> None:
    """Let programs that tests start take signals, even where the tests are run in the background or under nohup."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
