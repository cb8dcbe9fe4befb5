"""Whether this process may place memory: containers often forbid the kernel's NUMA calls."""

import ctypes
import errno
import functools
import os
import platform

# linux: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h
_GET_MEMPOLICY = {"x86_64": 239, "aarch64": 236, "riscv64": 236}
_MOVE_PAGES = {"x86_64": 279, "aarch64": 239, "riscv64": 239}


@functools.cache
def memory_policies_refused() -> str:
    """Return in words why memory policies cannot be set, or an empty text where they can.

    Seccomp profiles (Docker's, for one) forbid get_mempolicy together with set_mempolicy and mbind; asking changes
    nothing.
    """
    return _refused("get_mempolicy", _GET_MEMPOLICY, None, None, 0, None, 0)


@functools.cache
def page_queries_refused() -> str:
    """Return in words why the kernel does not say on which nodes pages are, or an empty text where it does.

    The same profiles forbid move_pages, which also asks (move_pages(2): without nodes, nothing is moved).
    """
    return _refused("move_pages", _MOVE_PAGES, 0, ctypes.c_ulong(0), None, None, None, 0)


def _refused(name: str, numbers: dict[str, int], *arguments: object) -> str:
    number = numbers.get(platform.machine())
    if number is None:
        return ""
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(number, *arguments) == 0:
        return ""
    code = ctypes.get_errno()
    return f"{name}: {os.strerror(code)}" if code in (errno.EPERM, errno.ENOSYS) else ""
