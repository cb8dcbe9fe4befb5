"""The guest's kernel: a distribution's own, found or fetched."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import platformdirs

from tests.guest.errors import GuestError

VARIABLE = "NUMAPREDICT_GUEST_KERNEL"
# In this series of the cloud kernel virtio, FUSE and virtiofs are built in, so the guest loads no module.
PACKAGE = re.compile(r"linux-image-(6\.12\.\d+)\+deb12-cloud-amd64")


def kernel_image() -> Path:
    """Give the kernel that the environment names, else the newest in the cache, else fetch one."""
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise GuestError(f"{VARIABLE} is {named!r}, which is no file")
        return Path(named).resolve()
    cached = [path for path in cache_folder().glob("vmlinuz-6.12.*") if path.is_file()]
    return max(cached, key=_version) if cached else fetch_kernel()


def cache_folder() -> Path:
    """Give the user's folder for kernels; NUMAPREDICT_CACHE does not move it, so that tests find it too."""
    return Path(platformdirs.user_cache_dir("numapredict")) / "guest"


def fetch_kernel() -> Path:
    """Download the newest package with apt, and keep nothing of it but the kernel."""
    if not all(map(shutil.which, ("apt-cache", "apt-get", "dpkg"))):
        raise GuestError(f"no apt here to fetch a guest kernel with: name one in {VARIABLE}, Linux 6.12 with virtiofs")
    package = _newest_package()
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the last step is atomic and several may fetch at once.
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=cache) as made:
        # As root, apt would download as its user _apt, who cannot write here.
        _output(
            "apt-get", *(["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []), "download", package, at=made
        )
        (archive,) = Path(made).glob("*.deb")
        _output("dpkg", "-x", str(archive), "unpacked", at=made)
        (kernel,) = Path(made, "unpacked", "boot").glob("vmlinuz-*")
        return kernel.replace(cache / kernel.name)


def _newest_package() -> str:
    known = _output("apt-cache", "pkgnames", "linux-image-6.12.").split()
    packages = [name for name in known if PACKAGE.fullmatch(name)]
    if not packages:
        raise GuestError(
            "apt knows no linux-image-6.12.*+deb12-cloud-amd64 (Debian 12, after apt-get update):"
            f" name a kernel in {VARIABLE}, Linux 6.12 with virtiofs built in"
        )
    return max(packages, key=lambda name: _version(Path(name)))


def _version(path: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", path.name)))


def _output(*command: str, at: str | None = None) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or "nothing on standard error").splitlines()[-1]
        raise GuestError(f"{' '.join(command)} failed: {last}")
    return done.stdout
