"""One controller and two nodes on this computer, on ports of the loopback interface that were free."""

import contextlib
import getpass
import json
import os
import re
import secrets
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.slurm.errors import SlurmError
from tests.slurm.packages import libraries, program, slurm_folder

NODES = ("n1", "n2")
NUMAPREDICT = (
    sys.executable,
    "-c",
    "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())",
)
TIED = Path(__file__).with_name("tied.py")
_UNDER_WAY = ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING")
_ATTEMPTS = 3  # somebody may take a free port before SLURM does
_RUN_S = 600.0
"""When a command has hung; no test is judged by it."""

_CONFIGURATION = """\
ClusterName=numapredict
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
PluginDir={plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0
MessageTimeout=90
SlurmdTimeout=300
PartitionName=all Nodes={nodes} Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """A SLURM that runs: ``environment`` is what its commands need beside a shell's own variables."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def run(
        self, command: str | Sequence[str], variables: Mapping[str, str] | None = None, at: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a text of sh, or words, as on a login node; it ends with this process at the latest."""
        words = ["sh", "-c", command] if isinstance(command, str) else list(command)
        own = {name: text for name, text in os.environ.items() if not name.startswith(("SLURM_", "OMP_", "HWLOC_"))}
        with _leash() as leash:
            process = subprocess.Popen(
                [sys.executable, str(TIED), str(leash), json.dumps([words])],
                env=own | self.environment | dict(variables or {}),
                cwd=at,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=(leash,),
            )
            try:
                stdout, stderr = process.communicate(timeout=_RUN_S)
            finally:
                process.terminate()  # it ends what it started, as subprocess.run's SIGKILL would not let it
                process.wait()
        return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)

    def batch(self, script: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run a script as a batch job and wait for it; what it said is the output.

        sbatch --wait looks after 2 seconds, then after 4 more, then after 8.
        """
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix="job-", suffix=".out") as output:
            submit = ["sbatch", "--parsable", f"--output={output.name}", *options]
            done = self.run(f"{shlex.join(submit)} <<'END_OF_JOB'\n#!/bin/sh\n{script}\nEND_OF_JOB\n")
            code = self._ended(done.stdout.strip()) if done.returncode == 0 else done.returncode
            said = Path(output.name).read_text(errors="replace")
        return subprocess.CompletedProcess(done.args, code, said, done.stderr)

    def _ended(self, job: str) -> int:
        """Wait for a job's end and return its exit code, 128 and its signal where one ended it."""
        while True:
            shown = self.run(["scontrol", "--oneliner", "show", "job", job])
            found = re.search(r" JobState=(\w+) .* ExitCode=(\d+):(\d+) ", shown.stdout)
            if found is None:
                raise SlurmError(f"scontrol does not show job {job}: {shown.stdout}{shown.stderr}")
            if found[1] not in _UNDER_WAY:
                return int(found[2]) or (128 + int(found[3]) if int(found[3]) else int(found[1] != "COMPLETED"))
            time.sleep(0.2)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Start a SLURM, and end it with all that it runs. Raises SlurmError where it cannot be had or does not start."""
    unpacked = slurm_folder()
    with contextlib.ExitStack() as stack:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                found = stack.enter_context(_started(unpacked))
                break
            except SlurmError:
                if attempt == _ATTEMPTS:
                    raise
        yield found


@contextmanager
def _started(unpacked: Path) -> Iterator[Cluster]:
    made = tempfile.TemporaryDirectory(prefix="numapredict-slurm-", ignore_cleanup_errors=True)
    with made as name, _leash() as leash:
        folder = Path(name)
        environment = _environment(folder, unpacked)
        _configure(folder, unpacked, environment)
        commands = _daemons(folder, unpacked)
        with (folder / "daemons.log").open("wb") as said:
            daemons = subprocess.Popen(
                [sys.executable, str(TIED), str(leash), json.dumps(commands), name],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,  # a Ctrl-C is for the tests, which then let go of the leash
                pass_fds=(leash,),
            )
        try:
            found = Cluster(folder, environment)
            _wait(found, daemons)
            yield found
        finally:
            daemons.terminate()
            daemons.wait()


def _wait(found: Cluster, daemons: subprocess.Popen[bytes]) -> None:
    """Wait until both nodes are ready for jobs."""
    while True:
        if daemons.poll() is not None:
            logs = sorted(found.folder.glob("*.log"))
            last = [f"{log.name}: {line}" for log in logs for line in log.read_text(errors="replace").splitlines()[-3:]]
            raise SlurmError("SLURM did not start: " + " | ".join(last))
        states = found.run(["sinfo", "--noheader", "--Node", "--format=%T"]).stdout.split()
        if states == ["idle"] * len(NODES):
            return
        time.sleep(0.2)


def _configure(folder: Path, unpacked: Path, environment: Mapping[str, str]) -> None:
    shown = subprocess.run(
        [program(unpacked, "slurmd"), "-C"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    hardware = re.search(r"^NodeName=\S+ (CPUs=.*)$", shown.stdout, re.MULTILINE)
    if hardware is None:
        raise SlurmError(f"slurmd -C does not say what this computer is: {shown.stderr.strip()}")
    host = socket.gethostname().partition(".")[0]
    ports = _free_ports(1 + len(NODES))
    text = _CONFIGURATION.format(
        host=host,
        user=getpass.getuser(),
        port=ports[0],
        folder=folder,
        plugins=":".join(str(path) for path in libraries(unpacked) if path.name.startswith("slurm")),
        nodes=",".join(NODES),
    )
    for node, port in zip(NODES, ports[1:], strict=True):
        text += f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {hardware[1]}\n"
        (folder / f"spool.{node}").mkdir()
    (folder / "slurm.conf").write_text(text)
    (folder / "state").mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)


def _daemons(folder: Path, unpacked: Path) -> list[list[str]]:
    """Return the commands of the daemons, in the foreground each."""
    munge = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid", "seed-file": "munge.seed"}
    slurmd = [str(program(unpacked, "slurmd")), "-D", "-d", str(program(unpacked, "slurmstepd"))]
    return [
        [
            # The folder of temporary files is everybody's, which munged would refuse.
            *(str(program(unpacked, "munged")), "--foreground", "--force", f"--log-file={folder / 'munge.log'}"),
            *(f"--{option}={folder / name}" for option, name in munge.items()),
        ],
        [str(program(unpacked, "slurmctld")), "-D", "-f", str(folder / "slurm.conf")],
        *([*slurmd, "-f", str(folder / "slurm.conf"), "-N", node] for node in NODES),
    ]


def _environment(folder: Path, unpacked: Path) -> dict[str, str]:
    folders = [str(unpacked / "usr" / where) for where in ("bin", "sbin")]
    return {
        "SLURM_CONF": str(folder / "slurm.conf"),
        "PATH": os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)]),
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries(unpacked))),
    }


@contextmanager
def _leash() -> Iterator[int]:
    """Give the end of a pipe to pass on: its other end is closed when this process ends, however that comes about."""
    held, kept = os.pipe()
    try:
        yield held
    finally:
        os.close(kept)
        os.close(held)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            found.append(one.getsockname()[1])
        return found
