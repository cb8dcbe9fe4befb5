"""The guest's kernel: a distribution's own, found or fetched."""

import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import platformdirs

from tests.guest.errors import GuestError

VARIABLE = "NUMAPREDICT_GUEST_KERNEL"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# In this series of the cloud kernel virtio, FUSE and virtiofs are built in, so the guest loads no module. Debian 13 has
# it in its main suite, Debian 12 in that of security updates alone.
PACKAGE = re.compile(r"linux-image-6\.12\.\d+(\+deb\d+)?-cloud-amd64")


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
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the last step is atomic and several may fetch at once.
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=cache) as made:
        # As root, apt would download as its user _apt, who cannot write here.
        options = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        package = _newest_package(options)
        if not package:
            options += _with_updates(Path(made), options)
            package = _newest_package(options)
        if not package:
            raise GuestError(
                "apt finds no linux-image-6.12.*-cloud-amd64 here (Debian 12 and 13 have it):"
                f" name a kernel in {VARIABLE}, Linux 6.12 with virtiofs built in"
            )
        _output("apt-get", *options, "download", package, at=made)
        (archive,) = Path(made).glob("*.deb")
        _output("dpkg", "-x", str(archive), "unpacked", at=made)
        (kernel,) = Path(made, "unpacked", "boot").glob("vmlinuz-*")
        return kernel.replace(cache / kernel.name)


def _newest_package(options: list[str]) -> str:
    """Give the newest kernel that apt knows, or nothing."""
    known = _output("apt-cache", *options, "pkgnames", "linux-image-6.12.").split()
    return max(filter(PACKAGE.fullmatch, known), key=lambda name: _version(Path(name)), default="")


def _with_updates(folder: Path, options: list[str]) -> list[str]:
    """Give options with which apt knows Debian's suites of updates too, by lists of its own in a folder.

    A system that debootstrap made has the release's suite alone. The system's own lists and sources stay as they are.
    """
    release = platform.freedesktop_os_release()
    if release["ID"] != "debian":
        return []
    suite = release["VERSION_CODENAME"]
    places = _output("apt-get", "indextargets", "--format", "$(SUITE) $(CODENAME) $(REPO_URI)", "Created-By: Packages")
    known = [line.split()[-1].rstrip("/") for line in places.splitlines() if line.split()[1] == suite]
    main = known[0] if known else "http://deb.debian.org/debian"
    (folder / "lists").mkdir()
    (folder / "sources.list").write_text(
        "".join(
            f"deb [arch=amd64 signed-by={KEYS}] {place} {name} main\n"
            for place, name in ((main, suite), (main, f"{suite}-updates"), (f"{main}-security", f"{suite}-security"))
        )
    )
    own = {"Etc::sourcelist": "sources.list", "Etc::sourceparts": "none", "State::lists": "lists", "Cache": "."}
    found = [word for key, name in own.items() for word in ("-o", f"Dir::{key}={folder / name}")]
    _output("apt-get", *options, *found, "update")
    return found


def _version(path: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", path.name)))


def _output(*command: str, at: str | None = None) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or "nothing on standard error").splitlines()[-1]
        raise GuestError(f"{' '.join(command)} failed: {last}")
    return done.stdout
