"""`python -m tests.slurm -- CMD...`: one command beside a SLURM of its own; `--fetch` only fetches SLURM."""

import signal
import sys
from types import FrameType

from tests.slurm.cluster import cluster
from tests.slurm.errors import SlurmError
from tests.slurm.packages import slurm_folder

_USAGE = "usage: python -m tests.slurm (--fetch | -- COMMAND...)"


def main(words: list[str]) -> int:
    """Run the command and return its exit code."""
    try:
        if words == ["--fetch"]:
            print(slurm_folder())  # noqa: T201
            return 0
        if words[:1] != ["--"] or len(words) < 2:
            print(_USAGE, file=sys.stderr)  # noqa: T201
            return 2
        with cluster() as found:
            done = found.run(words[1:])
    except SlurmError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def _leave(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _leave)
    sys.exit(main(sys.argv[1:]))
