"""The process in which `numapredict.run` runs a program: placing changes a process, and it ends as the program does.

It writes one of two files: the record of the run, or why there was none.
"""

import logging
import sys
from pathlib import Path

from numapredict.collect.placing.placed_run import RunOptions, run_placed
from numapredict.native.errors import NumapredictError

RECORD, REFUSAL = "run.json", "refusal"


def main(folder: Path, label: str, command: tuple[str, ...]) -> int:
    """Run the program under a label and return its exit code, or end by its signal; 2 if it was refused."""
    logging.getLogger("numapredict").addHandler(logging.NullHandler())  # standard error is the program's
    try:
        return run_placed(label, command, RunOptions(json=folder / RECORD))
    except (NumapredictError, OSError) as error:
        (folder / REFUSAL).write_text(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], tuple(sys.argv[3:])))
