"""SLURM in a guest with four nodes, by hand, as it takes minutes: `python -m tests.slurm.guest_session`.

Jobs of a whole node, of half of one, and under a mask, and what `--emit slurm` prints for interleaved pages, run as it
stands: the kernel says where threads and pages may be.
"""

import shlex
import sys
import tempfile
from pathlib import Path

from tests.guest.machine import Guest, python_environment
from tests.guest.shape import Shape
from tests.slurm.cluster import NUMAPREDICT

_PUS = 16
_ASK = "srun --nodes=1 --ntasks=1"
# getaddrinfo(3) has no answers for SLURM where the loopback interface has loopback addresses alone (AI_ADDRCONFIG).
_SETUP = """\
hostname localhost
ip link set lo up
ip address add 10.9.9.9/32 dev lo
mount -t tmpfs none /mnt
export TMPDIR=/mnt HOME=/root
exec {python} -m tests.slurm -- sh {session}
"""
_SESSION = """\
numapredict() {{ {numapredict} "$@"; }}
echo "== whole"; {ask} --exclusive --cpus-per-task={pus} {numapredict} topology
echo "== half"; {ask} --cpus-per-task={half} {numapredict} topology
echo "== mask"; {ask} --exclusive --cpus-per-task={pus} --cpu-bind=mask_cpu:0x00ff {numapredict} topology
echo "== emitted"
numapredict run --emit slurm --mapping 16x4-scatter-interleave -- numactl --show 2>/dev/null > /mnt/emitted
cat /mnt/emitted; sh /mnt/emitted
echo "== run"
{ask} --exclusive --cpus-per-task={pus} {numapredict} run --mapping 8x2-contiguous-bind@1 -- numactl --show
"""
_EXPECTED = {
    "whole": ("4 NUMA nodes with 4 cores each", f"gave all {_PUS} PUs of this computer"),
    "half": ("4 NUMA nodes with 2 cores each", f"gave {_PUS // 2} of this computer's {_PUS} PUs"),
    "mask": ("2 NUMA nodes with 4 cores each", "but this process may use only 8 (mask_cpu:"),
    "emitted": ("numactl --interleave=0-3", "policy: interleave", "interleavemask: 0 1 2 3"),
    "run": ("preferred node: 0", "physcpubind: 0 1 2 3 4 5 6 7 \n"),
}


def main() -> int:
    """Print what the session said, and what of it is not as it should be."""
    with tempfile.TemporaryDirectory() as made:
        session = Path(made, "session")
        words = shlex.join(NUMAPREDICT)
        session.write_text(_SESSION.format(numapredict=words, ask=_ASK, pus=_PUS, half=_PUS // 2))
        setup = _SETUP.format(python=shlex.quote(sys.executable), session=shlex.quote(str(session)))
        environment = python_environment()
        result = Guest(Shape.parse("4x4")).run(["sh", "-c", setup], Path(made), environment, 900)
    said = result.stdout.decode(errors="replace")
    print(said, result.stderr.decode(errors="replace"), sep="\n")  # noqa: T201
    parts = {part.partition("\n")[0].strip(): part for part in said.split("== ")[1:]}
    lacking = [
        f"{name}: {text}" for name, texts in _EXPECTED.items() for text in texts if text not in parts.get(name, "")
    ]
    print("\n".join(lacking) or f"all as it should be, after {result.total_s:.0f} s")  # noqa: T201
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
