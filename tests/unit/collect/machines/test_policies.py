import ctypes
import errno

import pytest

from numapredict.collect.machines import policies


class Kernel:
    """A C library whose system calls end as a test says."""

    def __init__(self, error: int) -> None:
        self.error = error

    def syscall(self, *_: object) -> int:
        ctypes.set_errno(self.error)
        return -1 if self.error else 0


@pytest.mark.parametrize(
    ("error", "said"), [(0, ""), (errno.EPERM, "not permitted"), (errno.ENOSYS, "not implemented"), (errno.EINVAL, "")]
)
def test_a_refusal_is_told_from_a_mistake(monkeypatch: pytest.MonkeyPatch, error: int, said: str) -> None:
    monkeypatch.setattr(policies.ctypes, "CDLL", lambda *_, **__: Kernel(error))
    found = policies.memory_policies_refused.__wrapped__()
    assert said in found
    assert bool(found) == bool(said)


def test_an_unknown_processor_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies.platform, "machine", lambda: "pdp11")
    assert policies.memory_policies_refused.__wrapped__() == ""
