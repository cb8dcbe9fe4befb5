"""Automatic NUMA balancing: the kernel moving pages and threads by itself, for the whole computer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from numapredict.collect.environment import NUMA_BALANCING

_OFF = "0"


def balancing_is_on(path: Path = NUMA_BALANCING) -> bool:
    """Return whether the kernel moves pages by itself."""
    return _setting(path) not in {"", _OFF}


@contextmanager
def without_balancing(say: Callable[[str], None], path: Path = NUMA_BALANCING) -> Iterator[None]:
    """Switch balancing off for a while, or say why it stays on.

    Signals must be held meanwhile (child.signals_held), or one that ends this process would leave it off.
    """
    before = _setting(path)
    if before in {"", _OFF}:
        yield
        return
    try:
        path.write_text(_OFF)
    except OSError as error:
        say(
            f"automatic NUMA balancing stays on: {path}: {error.strerror}; as root, `sysctl kernel.numa_balancing=0`"
            " switches it off for all programs"
        )
        yield
        return
    try:
        yield
    finally:
        try:
            path.write_text(before)
        except OSError as error:
            say(f"automatic NUMA balancing could not be switched back to {before}: {path}: {error.strerror}")


def _setting(path: Path) -> str:
    """Return the kernel's setting, empty where it has none."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
