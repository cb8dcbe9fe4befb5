"""Keeps the kernel's transparent huge pages out of tests, whatever the computer's setting is.

Many distributions have `always`. Then 2 MiB are one page, with one first touch and one node, and the threads of small
programs share such pages, as they do not where pages are of 4 KiB.
"""

import ctypes
import os

_PR_SET_THP_DISABLE = 41  # prctl(2)


def decline_huge_pages() -> None:
    """Have no transparent huge pages in this process from here on, nor in the programs that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
