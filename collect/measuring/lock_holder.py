"""Who holds a lock on a file, as far as the kernel tells (proc_locks(5), proc_pid(5))."""

import os
import pwd
from pathlib import Path

from numapredict.collect.host.kernel_file import kernel_text

UNKNOWN = "another process"


def holder_of(file: int) -> str:
    """Return the process that has flock(2)'s lock on an open file, and its user: ``process 12 of user ann``."""
    about = os.fstat(file)
    place = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    for line in kernel_text(Path("/proc/locks")).splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5] == place and words[4].isdigit() and words[4] != "0":
            return f"process {words[4]}{_user(words[4])}"
    return UNKNOWN


def _user(process: str) -> str:
    """Return the user of a process, as it is shown where /proc shows it, else an empty text."""
    try:
        number = Path("/proc", process).stat().st_uid
    except OSError:
        return ""
    try:
        return f" of user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f" of user {number}"
