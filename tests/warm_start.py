"""Starts numapredict from a process that has loaded its libraries: the same command without the second that this takes.

Other tests may use the computer meanwhile: what they take of it is not looked for.

A server loads the whole package once and forks for each command. The fork gets the arguments, the standard streams, the
folder and the environment of the process that asks, calls the command's own `main`, and ends as an interpreter ends.
It is in the server's session, and has the server's limits, locale and `PYTHON*` variables: tests of signals from a
terminal, of closed streams, of limits and of the start itself use COLD.
"""

import contextlib
import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import uuid

import pytest

from tests.small_pages import decline_huge_pages
from tests.unwatched import look_away

MAIN = "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())"
COLD = (sys.executable, "-c", MAIN)
"""The words that start the installed command as a user does; its arguments follow."""

_PACKAGES = ("collect", "predictor", "reports")
_NO_SERVER = 125
# Loads little. It ends as the command does: with its exit code, or by its signal.
_CLIENT = f"""
import json, os, resource, signal, socket, sys
asked = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
server = socket.socket(socket.AF_UNIX)
server.connect("\\0" + sys.argv[1])
socket.send_fds(server, [len(asked).to_bytes(8, "little")], [0, 1, 2])
server.sendall(asked)
answer = server.recv(8)
ended = int.from_bytes(answer, "little", signed=True) if answer else {_NO_SERVER}
if ended < 0:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if -ended != signal.SIGKILL:
        signal.signal(-ended, signal.SIG_DFL)
    os.kill(os.getpid(), -ended)
os._exit(ended)
"""


def warm() -> tuple[str, ...]:
    """Return the words that start the command with its libraries loaded; its arguments follow."""
    return (sys.executable, "-I", "-S", "-c", _CLIENT, _server()[0])


@functools.cache
def _server() -> tuple[str, subprocess.Popen[bytes]]:
    """Start this process's server, and return its name and itself; it ends with this process."""
    name = f"numapredict-warm-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, "-c", f"import sys, tests.warm_start as w; sys.exit(w.serve({listener.fileno()}))"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_WAIT_POLICY": "passive"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
        )
    return name, process


def serve(descriptor: int) -> int:
    """Run the commands that are asked for until standard input ends; in a fork, return the command's exit code."""
    decline_huge_pages()
    _load()
    look_away(pytest.MonkeyPatch())
    running: dict[int, tuple[int, socket.socket]] = {}  # by the process's descriptor
    poll = select.poll()
    with socket.socket(fileno=descriptor) as listener:
        poll.register(0, 0)  # it hangs up
        poll.register(listener, select.POLLIN)
        while True:
            for ready, _ in poll.poll():
                if ready == 0:
                    return 0
                if ready == descriptor:
                    asking, _ = listener.accept()
                    if not (child := os.fork()):
                        listener.detach()
                        return _run(asking)
                    process = os.pidfd_open(child)
                    running[process] = (child, asking)
                    poll.register(process, select.POLLIN)
                    poll.register(asking, 0)  # it hangs up where the command is given up
                elif ready in running:
                    child, asking = running.pop(ready)
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                    poll.unregister(ready)
                    poll.unregister(asking)
                    os.close(ready)
                    with asking, contextlib.suppress(OSError):
                        asking.sendall(code.to_bytes(8, "little", signed=True))
                else:
                    for process, (_, asking) in running.items():
                        if asking.fileno() == ready:
                            signal.pidfd_send_signal(process, signal.SIGKILL)


def _load() -> None:
    """Load every module of ours but those that are programs, and what they load."""
    for package in _PACKAGES:
        folder = importlib.import_module(f"numapredict.{package}")
        for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def _run(asking: socket.socket) -> int:
    """Become the command that is asked for, and return its exit code."""
    from numapredict.predictor.command_line.main import main

    size, streams, _, _ = socket.recv_fds(asking, 8, 3)
    with asking.makefile("rb") as file:
        words, folder, environment = json.loads(file.read(int.from_bytes(size, "little")))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    os.closerange(3, max(*streams, asking.detach()) + 1)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *words]
    return main()
