"""Automatic NUMA balancing: the kernel moving pages and threads by itself, for the whole computer."""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from numapredict.collect.host.environment import NUMA_BALANCING
from numapredict.collect.host.kernel_file import kernel_line

SHARED = Path("/run/numapredict-balancing")
"""As for the setting itself, only root may write there, and a reboot resets it."""

_OFF = "0"
_GATE, _USERS = 0, 1  # bytes of the file, each locked separately
_LOOKS, _LOOK_S = 500, 0.02
"""How often, and with what pause in seconds, to try the gate: others hold it for two small writes."""


def balancing_is_on(path: Path = NUMA_BALANCING) -> bool:
    """Return whether the kernel moves pages by itself."""
    return kernel_line(path) not in {"", _OFF}


@contextmanager
def without_balancing(
    note: Callable[[str], None], path: Path = NUMA_BALANCING, shared: Path = SHARED
) -> Iterator[None]:
    """Switch balancing off until the context ends, or note why it stays on.

    Of several concurrent users the last to end switches it on again: ``shared`` is a file with the previous setting,
    and each user has a lock on it that the kernel releases at the end of the process. Signals must be held meanwhile
    (child.signals_held), or one that ends this process would leave balancing off.
    """
    if not path.exists():
        yield
        return
    with contextlib.ExitStack() as stack:
        try:
            remembered = stack.enter_context(_opened(shared))
        except OSError:  # not permitted: then neither is the setting, whose error is the one to report
            remembered = None
        try:
            off = _switch_off(path, remembered)
        except OSError as error:
            note(
                f"automatic NUMA balancing stays on: {path}: {error.strerror}; as root, `sysctl"
                " kernel.numa_balancing=0` switches it off for all programs"
            )
            off = ""
        try:
            yield
        finally:
            try:
                if off:
                    _switch_back(path, remembered, off)
            except OSError as error:
                note(f"automatic NUMA balancing could not be switched back to {off}: {path}: {error.strerror}")


def _switch_off(path: Path, remembered: TextIO | None) -> str:
    """Switch it off and return what it was, empty where it was off already; from then on this process is a user."""
    setting = kernel_line(path)
    if remembered is None:
        if setting in {"", _OFF}:
            return ""
        path.write_text(_OFF)
        return setting
    with _gate(remembered):
        alone = _locked(remembered, fcntl.LOCK_EX)
        remembered.seek(0)
        before = remembered.read().strip()
        if setting not in {"", _OFF} and (alone or not before):
            before = setting  # the file's content is from a process that has restored the setting
        elif not before.isdigit() or before == _OFF:
            before = ""
        kind = fcntl.LOCK_UN
        try:
            if before:
                path.write_text(_OFF)
                _write(remembered, before)
                kind = fcntl.LOCK_SH
        finally:
            fcntl.lockf(remembered, kind, 1, _USERS)
        return before


def _switch_back(path: Path, remembered: TextIO | None, before: str) -> None:
    """Restore the setting ``before`` if no other process needs balancing off."""
    if remembered is None:
        path.write_text(before)
        return
    with _gate(remembered):
        if _locked(remembered, fcntl.LOCK_EX):
            path.write_text(before)
            _write(remembered, "")
        fcntl.lockf(remembered, fcntl.LOCK_UN, 1, _USERS)


@contextmanager
def _opened(shared: Path) -> Iterator[TextIO]:
    handle = os.open(shared, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "r+", encoding="ascii", errors="replace") as file:
        yield file


@contextmanager
def _gate(remembered: TextIO) -> Iterator[None]:
    """Exclude others from reading and changing; raise OSError where a stopped process holds the gate."""
    for _ in range(_LOOKS):
        if _locked(remembered, fcntl.LOCK_EX, _GATE):
            break
        time.sleep(_LOOK_S)
    else:
        raise OSError(errno.EAGAIN, "another numapredict run is stopped while it changes the setting")
    try:
        yield
    finally:
        fcntl.lockf(remembered, fcntl.LOCK_UN, 1, _GATE)


def _locked(remembered: TextIO, kind: int, byte: int = _USERS) -> bool:
    """Try to lock a byte and return whether that worked; a lock that this process holds is converted to ``kind``."""
    try:
        fcntl.lockf(remembered, kind | fcntl.LOCK_NB, 1, byte)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EAGAIN}:
            raise
        return False
    return True


def _write(remembered: TextIO, text: str) -> None:
    remembered.seek(0)
    remembered.truncate()
    remembered.write(text)
    remembered.flush()
