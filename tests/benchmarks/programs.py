"""The programs that the benchmarks run: compiled anew, and the numapredict command of this interpreter."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def compiled(source: Path, folder: Path, compiler: str = "gcc", options: tuple[str, ...] = ("-fopenmp",)) -> Path:
    """Return the program made from a C source as a user would make it: with -O2, and -fopenmp unless told otherwise."""
    program = folder / source.stem
    subprocess.run([compiler, "-O2", *options, str(source), "-o", str(program), "-lm"], check=True)
    return program


def numapredict() -> list[str]:
    """Return the command line that runs the installed command, or in a checkout that is not installed, its function."""
    script = Path(sys.executable).with_name("numapredict")
    if script.exists():
        return [str(script)]
    return [
        sys.executable,
        "-c",
        "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())",
    ]
