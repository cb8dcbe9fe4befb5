"""`numapredict run` after the advice to keep the program as it is: it runs so, as without numapredict."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import program_of
from numapredict.predictor.advising.last_advice import keep_advice

START = "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())"


def run(*words: str, to: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START, "run", *words],
        stdout=to,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def shell() -> str:
    keep_advice(program_of(("/bin/sh",)), host_topology(), AS_IT_IS)
    return "/bin/sh"


def test_output_exit_code_and_environment_are_its_own(shell: str) -> None:
    done = run(shell, "-c", "echo $LD_PRELOAD$OMP_PLACES.; echo said >&2; exit 26")
    assert (done.stdout, done.returncode) == (".\n", 26)
    advice, said = done.stderr.splitlines()
    assert advice.endswith("ago: keep it as it is")
    assert said == "said"


def test_signals_are_as_at_a_start_and_end_it(shell: str) -> None:
    """Python ignores SIGPIPE, and what it starts in its own place would."""
    done = run(shell, "-c", "grep SigIgn /proc/self/status; kill -TERM $$")
    assert int(done.stdout.split()[1], 16) & 1 << (signal.SIGPIPE - 1) == 0
    assert done.returncode == -signal.SIGTERM


@pytest.mark.parametrize("option", ["--verify", "--regions", "--no-numa-balancing"])
def test_options_about_a_mapping_are_refused(shell: str, option: str) -> None:
    done = run(option, shell, "-c", "echo ran")
    assert (done.stdout, done.returncode) == ("", 2)
    assert "was to keep it as it is: name a --mapping" in done.stderr


def test_a_program_that_cannot_start_is_one_line(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELFnot")
    program.chmod(0o755)
    keep_advice(program_of((str(program),)), host_topology(), AS_IT_IS)
    done = run(str(program))
    assert done.returncode not in {0, 1, -signal.SIGSEGV}
    assert "Traceback" not in done.stderr
    assert os.fspath(program) in done.stderr
