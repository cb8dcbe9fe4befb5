"""Whether this process may place memory: containers often forbid the kernel's NUMA calls."""

import ctypes
import errno
import functools
import os
import platform

# linux: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h
_GET_MEMPOLICY = {"x86_64": 239, "aarch64": 236, "riscv64": 236}


@functools.cache
def memory_policies_refused() -> str:
    """Return in words why memory policies cannot be set, or an empty text where they can.

    Seccomp profiles (Docker's, for one) forbid get_mempolicy together with set_mempolicy and mbind; asking changes
    nothing.
    """
    number = _GET_MEMPOLICY.get(platform.machine())
    if number is None:
        return ""
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(number, None, None, 0, None, 0) == 0:
        return ""
    code = ctypes.get_errno()
    return f"get_mempolicy: {os.strerror(code)}" if code in (errno.EPERM, errno.ENOSYS) else ""
