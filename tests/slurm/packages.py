"""SLURM's programs: a distribution's own packages, fetched with apt and unpacked into the user's cache."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import platformdirs

from tests.slurm.errors import SlurmError

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge")


def slurm_folder() -> Path:
    """Give the folder of the unpacked packages, fetched where there is none yet."""
    found = sorted(cache_folder().glob("slurmctld_*"))
    return found[-1] if found else fetch_slurm()


def cache_folder() -> Path:
    """Give the user's folder for SLURM; NUMAPREDICT_CACHE does not move it, so that tests find it too."""
    return Path(platformdirs.user_cache_dir("numapredict")) / "slurm"


def fetch_slurm() -> Path:
    """Download the packages and what they need that is not installed, and unpack them; nothing is installed."""
    if not all(map(shutil.which, ("apt-get", "dpkg"))):
        raise SlurmError("no apt here to fetch SLURM with")
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the last step is atomic and several may fetch at once.
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=cache) as made:
        planned = _output("apt-get", "install", "--simulate", "--no-install-recommends", *PACKAGES, at=made)
        needed = sorted({*PACKAGES, *re.findall(r"^Inst (\S+) ", planned, re.MULTILINE)})
        # As root, apt would download as its user _apt, who cannot write here.
        as_user = ("-o", "APT::Sandbox::User=root") if os.geteuid() == 0 else ()
        _output("apt-get", *as_user, "download", *needed, at=made)
        unpacked = Path(made, "unpacked")
        for archive in Path(made).glob("*.deb"):
            _output("dpkg", "-x", str(archive), str(unpacked), at=made)
        (controller,) = Path(made).glob("slurmctld_*.deb")
        place = cache / controller.stem
        try:
            return unpacked.rename(place)
        except OSError:
            if place.is_dir():  # somebody else was faster
                return place
            raise


def program(folder: Path, name: str) -> Path:
    """Give a program of the packages by its name; Debian's daemons have a suffix."""
    places = [folder / "usr" / where / (name + suffix) for where in ("sbin", "bin") for suffix in ("", "-wlm")]
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise SlurmError(f"no {name} in {folder}: remove that folder, it will be fetched again")
    return found


def libraries(folder: Path) -> list[Path]:
    """Give the folders of the packages' libraries: SLURM's own one is also that of its plugins."""
    return [*folder.glob("usr/lib/*-linux-gnu"), *folder.glob("usr/lib/*-linux-gnu/slurm*")]


def _output(*command: str, at: str) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or "nothing on standard error").splitlines()[-1]
        raise SlurmError(f"{' '.join(command)} failed: {last}")
    return done.stdout
