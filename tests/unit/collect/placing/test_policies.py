import ctypes
import errno

import pytest

from numapredict.collect.placing import policies


class Kernel:
    """A C library whose system calls end as a test says."""

    def __init__(self, error: int) -> None:
        self.error = error

    def syscall(self, *_: object) -> int:
        ctypes.set_errno(self.error)
        return -1 if self.error else 0


ASKED = ("memory_policies_refused", "page_queries_refused")


def answer(name: str) -> str:
    """Ask anew: what was found before is not taken."""
    found = getattr(policies, name).__wrapped__()
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(
    ("error", "said"), [(0, ""), (errno.EPERM, "not permitted"), (errno.ENOSYS, "not implemented"), (errno.EINVAL, "")]
)
def test_a_refusal_is_distinguished_from_a_mistake(
    monkeypatch: pytest.MonkeyPatch, name: str, error: int, said: str
) -> None:
    monkeypatch.setattr(policies.ctypes, "CDLL", lambda *_, **__: Kernel(error))
    found = answer(name)
    assert said in found
    assert bool(found) == bool(said)


def test_an_unknown_processor_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies.platform, "machine", lambda: "pdp11")
    assert [answer(name) for name in ASKED] == ["", ""]


def test_the_kernel_that_answers_here_refuses_nothing() -> None:
    assert [answer(name) for name in ASKED] == ["", ""]
