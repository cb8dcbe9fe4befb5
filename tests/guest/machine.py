"""A guest that boots, runs one command, and ends."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tests.guest.errors import GuestError
from tests.guest.initramfs import Errand, busybox, initramfs
from tests.guest.kernel import kernel_image
from tests.guest.shape import Shape
from tests.guest.share import TIED, Share, running, virtiofsd
from tests.guest.timed.configuration import Timing
from tests.guest.timed.parts import build_parts
from tests.guest.visit import PORTS, Visit

EMULATOR = "qemu-system-x86_64"
PROGRAMS = {EMULATOR: "qemu-system-x86", "setpriv": "util-linux", "unshare": "util-linux", "chrt": "util-linux"}
MACHINE = ("-machine", "q35", "-cpu", "Haswell", "-no-reboot", "-nodefaults")
ONE_THREAD, THREAD_A_CPU = ("-accel", "tcg,thread=single"), ("-accel", "tcg,thread=multi")
UNUSED = ("jent_mod_init", "ext4_init_fs")
"""Parts of the kernel, by their first function, that no guest uses: their self-tests are a third of its start."""
# A panic ends the machine at once; mitigations cost time and protect nothing here.
# On a busy computer the timer may not tick while the kernel checks whether it does, which would be a panic.
KERNEL_OPTIONS = (
    "console=ttyS0",
    "quiet",
    "panic=-1",
    "mitigations=off",
    "no_timer_check",
    f"initcall_blacklist={','.join(UNUSED)}",
)
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
    "OMP_WAIT_POLICY": "passive",  # spinning costs 20x under emulation
}


@dataclass(frozen=True)
class GuestResult:
    """What came back: the command's exit code (128 + signal where one killed it), its output, and the host's times."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    boot_s: float
    total_s: float
    folder: Path


@dataclass(frozen=True)
class Guest:
    """A Linux machine of a shape; `run` boots it anew each time, and several may run at once.

    With `timed`, programs wait for their memory as on that machine: those that are started by `charged PROGRAM...`,
    and all whose file names are in the variable GUEST_PAYS, between colons. All others run free. With `pipe`,
    /dev/vport*p4 is a port whose other ends are the named pipes `pipe`.in and `pipe`.out. To `totals` a timed guest
    writes what its CPUs did for programs that paid (plugin.c). `stop` ends it with a GuestError.
    """

    shape: Shape
    kernel_options: Sequence[str] = ()
    timed: Timing | None = None
    pipe: Path | None = None
    totals: Path | None = None
    stop: threading.Event | None = None

    def __post_init__(self) -> None:
        """Raise GuestError where the shape is not the timed machine's."""
        if self.timed and self.shape != self.timed.shape(self.shape.memory_mb):
            raise GuestError(f"the shape is not that of machine {self.timed.machine.name}")

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = 300,
        follow: tuple[BinaryIO, BinaryIO] | None = None,
    ) -> GuestResult:
        """Run a command in the caller's working directory, with the host's files readable and `folder` writable.

        The folder has the same path in the guest, where GUEST_FOLDER names it. The environment is a small clean one
        with the given variables on top. Output is also written to `follow` while it comes. Raises GuestError where the
        guest does not boot or stops before the command, and GuestTimeoutError after `timeout_s`, boot included.
        """
        environment = environment or {}
        folder = folder.resolve(strict=True)
        places = {"GUEST_FOLDER": str(folder), "TMPDIR": str(folder), "HOME": str(folder)}
        check_installed()
        kernel = kernel_image()
        with ExitStack() as stack:
            private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="numapredict-guest-")))
            if self.timed:
                build_parts(private, EMULATOR)
                (private / "figures").write_text(self.timed.figures(self.shape.memory_mb))
                places["PATH"] = f"{private}:{ENVIRONMENT['PATH']}"
                if "GUEST_PAYS" in environment:
                    places["LD_PRELOAD"] = f"{private}/libpaying.so"
            errand = Errand(command, Path.cwd(), ENVIRONMENT | places | dict(environment), folder)
            (private / "initramfs").write_bytes(initramfs(errand))
            shares = (Share("root", Path("/"), fixed=True), Share("folder", folder, fixed=False))
            for share in shares:
                stack.enter_context(share.served(private))
            log = stack.enter_context((private / "emulator.log").open("wb"))
            arguments = self._arguments(kernel, shares)
            before = [*TIED, *(going_first() if self.timed else ())]
            emulator = stack.enter_context(running([*before, *arguments], cwd=private, stdout=log, stderr=log))
            visit = Visit(private, emulator, follow, self.stop)
            exit_code = visit.wait(timeout_s)
            return GuestResult(
                exit_code,
                (private / "output").read_bytes(),
                (private / "errors").read_bytes(),
                visit.boot_s,
                visit.elapsed_s(),
                folder,
            )

    def _arguments(self, kernel: Path, shares: Sequence[Share]) -> list[str]:
        arguments = [EMULATOR, *MACHINE, *(THREAD_A_CPU if self.timed else ONE_THREAD)]
        arguments += ["-display", "none", *self.shape.qemu_arguments()]
        if self.timed:
            totals = f",totals={self.totals}" if self.totals else ""
            arguments += ["-plugin", f"./libtimed.so,machine=figures{totals}"]
        for share in shares:
            arguments += share.qemu_arguments()
        arguments += ["-chardev", "file,id=console,path=console", "-serial", "chardev:console"]
        arguments += ["-device", "virtio-serial-pci"]
        for number, port in enumerate(PORTS, start=1):
            arguments += ["-chardev", f"file,id={port},path={port}"]
            arguments += ["-device", f"virtserialport,chardev={port},name={port},nr={number}"]
        if self.pipe is not None:
            arguments += ["-chardev", f"pipe,id=requests,path={self.pipe}"]
            arguments += ["-device", f"virtserialport,chardev=requests,name=requests,nr={len(PORTS) + 1}"]
        options = " ".join([*KERNEL_OPTIONS, *(["oops=panic"] if self.timed else []), *self.kernel_options])
        return [*arguments, "-kernel", str(kernel), "-initrd", "initramfs", "-append", options]


def going_first() -> tuple[str, ...]:
    """Give the words that let a process's threads run before those of others, where this user may: nothing else.

    A timed guest's CPUs sleep most of the time; held up when they wake, they are slower than they should be.
    """
    words = ("chrt", "--rr", "1")
    return words if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0 else ()


def python_environment() -> dict[str, str]:
    """What a Python in the guest needs to find the same modules as here: environment variables."""
    return {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}


def check_installed() -> None:
    """Refuse with the first program that a guest needs and that is not here, and fetch the kernel where needed."""
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise GuestError(f"the guest needs {program} (package {package})")
    virtiofsd()
    busybox()
    kernel_image()
