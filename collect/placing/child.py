"""A child process that behaves as if it replaced this process: same terminal, signals and exit status.

The child stays in this process's group, so that the terminal's signals reach it directly: they go to the whole group
and are not passed on a second time; signals sent to this process alone are.
"""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from numapredict.collect.placing.affinity import kept_to

# Raised by the process's own instructions, or impossible to catch.
_OWN = {"SIGKILL", "SIGSTOP", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS", "SIGPIPE"}
# The kernel sends these to all processes of a terminal's foreground group.
_TERMINAL = {"SIGINT", "SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGHUP", "SIGCONT", "SIGWINCH"}
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4  # prctl(2)


def _numbers(names: set[str]) -> set[int]:
    return {getattr(signal, name) for name in names}


STDERR = 2


@contextlib.contextmanager
def signals_held() -> Iterator[set[int]]:
    """Block signals, so that only SIGKILL can end this process meanwhile; yield those blocked before."""
    held = {number for number in signal.valid_signals() if number not in _numbers(_OWN)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield set(before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_child(
    command: Sequence[str],
    environment: dict[str, str],
    cpus: Sequence[int],
    blocked: set[int],
    output: int | None = None,
) -> int:
    """Run a command to its end and return its exit code, or the negative number of the signal that ended it.

    Call it inside ``signals_held`` with what that yielded; it raises OSError where the system cannot start the command.
    The command inherits this process's standard streams, but where ``output`` is the descriptor of its standard output.
    """
    children_ignored = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    if children_ignored:  # or the kernel would keep the child's end from us
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    library, parent = ctypes.CDLL(None), os.getpid()

    def become_the_program() -> None:
        library.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        if children_ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    with kept_to(cpus):
        child = subprocess.Popen(
            command,
            env=environment,
            stdout=output,
            close_fds=False,
            preexec_fn=become_the_program,  # noqa: PLW1509 - there are no other threads here
        )
    child.returncode = _follow(child.pid)
    return child.returncode


def become(command: Sequence[str], environment: dict[str, str]) -> NoReturn:
    """Replace this process by a command, with default handling of the signals that Python ignores."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(command[0], list(command), environment)  # noqa: S606 - that no shell is used is the point


def end_like(code: int) -> int:
    """Return an exit code, or end this process by the signal that a negative one names."""
    if code >= 0:
        return code
    sys.stdout.flush()
    sys.stderr.flush()
    # The program has written its core file, if enabled: ours must not overwrite it.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler to reset
        signal.signal(-code, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
    os.kill(os.getpid(), -code)
    return 128 - code  # a shell's code, where the signal does not end a process


def _follow(child: int) -> int:
    """Pass signals on to a child and stop when it stops, until it ends; return how it did."""
    wanted = {number for number in signal.valid_signals() if number not in _numbers(_OWN)}
    while True:
        received = signal.sigwaitinfo(wanted)
        if received.si_signo == signal.SIGCHLD:
            pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
            if pid == child and os.WIFSTOPPED(status):
                _stop_too(os.WSTOPSIG(status))
                _send(child, signal.SIGCONT)
            elif pid == child:
                return os.waitstatus_to_exitcode(status)
        elif not (received.si_code > 0 and received.si_signo in _numbers(_TERMINAL)):
            _send(child, received.si_signo)


def _stop_too(number: int) -> None:
    """Stop this process as its child was, so that the shell sees a stopped job; return when it is continued."""
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {number}) if number != signal.SIGSTOP else None
    os.kill(os.getpid(), number)
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _send(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)
