"""A folder of the host that a guest sees, served by virtiofsd."""

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.guest.errors import GuestError

DAEMON = Path("/usr/lib/qemu/virtiofsd")
# The kernel ends a child together with us, even where we are killed and can clean up nothing.
TIED = ("setpriv", "--pdeathsig", "KILL")


@dataclass(frozen=True)
class Share:
    """A folder under the tag that the guest mounts; what stays as it is may be cached by the guest."""

    tag: str
    source: Path
    fixed: bool

    def qemu_arguments(self) -> list[str]:
        """Give QEMU's arguments for the device, to be started in the folder that holds the socket."""
        channel = f"socket,id={self.tag},path={self.tag}.socket"
        return ["-chardev", channel, "-device", f"vhost-user-fs-pci,chardev={self.tag},tag={self.tag}"]

    @contextmanager
    def served(self, private: Path) -> Iterator[None]:
        """Run the daemon on a socket in the private folder, its messages in a file there."""
        with (
            socket.socket(socket.AF_UNIX) as listener,
            (private / f"{self.tag}.log").open("wb") as log,
        ):
            listener.bind(str(private / f"{self.tag}.socket"))
            listener.listen()
            own = {**os.environ, **groups_kept(private)}
            command = self.command(listener.fileno())
            with running(command, env=own, pass_fds=[listener.fileno()], stdout=log, stderr=log):
                listener.close()
                yield

    def command(self, listener: int) -> list[str]:
        """Give the daemon's command line for a descriptor on which it is to listen.

        A descriptor instead of a path: for a path the daemon wants a lock file in a folder of the system.
        """
        return [*virtiofsd(), f"--fd={listener}", "-f", *self._options()]

    def _options(self) -> list[str]:
        source = str(self.source).replace("\\", "\\\\").replace(",", "\\,")
        cache = "always" if self.fixed else "auto"
        return [word for option in (f"source={source}", f"cache={cache}", "sandbox=chroot") for word in ("-o", option)]


@contextmanager
def running(command: Sequence[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that is killed at the latest when this block is left."""
    # A session of its own: Ctrl-C reaches us alone, and we stop the processes in order.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def virtiofsd() -> list[str]:
    """Give the start of the daemon's command line."""
    if not DAEMON.is_file():
        raise GuestError(f"the guest needs {DAEMON} (package virtiofsd; in Debian 12 qemu-system-common)")
    if os.geteuid() == 0:
        return [*TIED, str(DAEMON)]
    # The daemon changes its root, which a user may in a user namespace only, and may not raise its limit of files.
    return ["unshare", "--user", "--map-root-user", *TIED, str(DAEMON), "--rlimit-nofile=0"]


def groups_kept(private: Path) -> dict[str, str]:
    """Give the variables with which the daemon starts for a user who is in groups, as most are."""
    if os.geteuid() == 0 or not os.getgroups():
        return {}
    library = private / "keep_groups.so"
    if not library.exists():
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, Path(__file__).parent / "keep_groups.c"], check=True)
    return {"LD_PRELOAD": str(library)}
