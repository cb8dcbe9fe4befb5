"""The guest's initial file system: busybox, our first process, and what it is to run."""

import shlex
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import fsencode
from pathlib import Path

from elftools.elf.elffile import ELFFile

from tests.guest.errors import GuestError

FOLDERS = ("bin", "dev", "proc", "host")


@dataclass(frozen=True)
class Errand:
    """A command to run in the guest: its arguments, where, with which environment, and its writable folder."""

    command: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    folder: Path

    def script(self) -> str:
        """Give the errand as definitions for the first process, every word quoted."""
        words = [
            *("setsid", "chroot", "/host", "/usr/bin/env", "--ignore-environment", f"--chdir={self.cwd}"),
            *(f"{name}={value}" for name, value in self.environment.items()),
            *self.command,
        ]
        return f"folder={shlex.quote(str(self.folder))}\nerrand() {{ exec {shlex.join(words)}; }}\n"


def initramfs(errand: Errand) -> bytes:
    """Give the archive that the kernel unpacks; it is made anew for each guest, in a few milliseconds."""
    entries = [_entry(name, stat.S_IFDIR | 0o755) for name in FOLDERS]
    entries.append(_entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
    entries.append(_entry("bin/busybox", stat.S_IFREG | 0o755, busybox().read_bytes()))
    entries.append(_entry("init", stat.S_IFREG | 0o755, Path(__file__).with_name("init").read_bytes()))
    entries.append(_entry("errand", stat.S_IFREG | 0o644, fsencode(errand.script())))
    return b"".join([*entries, _entry("TRAILER!!!", 0)])


def _entry(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """Give one file in the `newc` form of cpio (Linux, Documentation/driver-api/early-userspace/buffer-format.rst)."""
    path = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    # inode, mode, user, group, links, time, size, device of the file, device number, length of the name, checksum
    numbers = (0, mode, 0, 0, links, 0, len(content), 0, 0, *device, len(path), 0)
    header = b"070701" + b"".join(b"%08x" % number for number in numbers)
    return _padded(header + path) + _padded(content)


def _padded(part: bytes) -> bytes:
    return part + b"\0" * (-len(part) % 4)


def busybox() -> Path:
    """Find busybox, which alone must do in the guest until the host's file system is mounted."""
    found = shutil.which("busybox")
    if found is None:
        raise GuestError("the guest needs busybox (package busybox-static)")
    with Path(found).open("rb") as file:
        if any(segment.header.p_type == "PT_INTERP" for segment in ELFFile(file).iter_segments()):
            raise GuestError(f"{found} is linked dynamically; the guest needs the package busybox-static")
    return Path(found)
