"""The process in which `numapredict.run` runs a program: placing changes a process, and it ends as the program does.

It writes one of two files: the record of the run, or why there was none.
"""

from pathlib import Path

from numapredict.collect.placing.placed_run import run_placed
from numapredict.collect.placing.run_options import RunOptions
from numapredict.native.errors import NumapredictError

RECORD, REFUSAL = "run.json", "refusal"


def main(folder: str, label: str, command: list[str]) -> int:
    """Run the program under a label and return its exit code, or end by its signal; 2 if it was refused."""
    try:
        return run_placed(label, tuple(command), RunOptions(json=Path(folder, RECORD)))
    except (NumapredictError, OSError) as error:
        Path(folder, REFUSAL).write_text(str(error), errors="backslashreplace")
        return 2
