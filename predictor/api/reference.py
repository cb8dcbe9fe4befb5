"""Writes the reference of the Python interface as HTML: `python -m numapredict.predictor.api.reference FOLDER`."""

import sys
from pathlib import Path

import numapredict
from numapredict.native.errors import MissingNativePartError, NumapredictError


def write_reference(folder: Path) -> None:
    """Write the pages of all that `import numapredict` gives; MissingNativePartError without pdoc."""
    try:
        import pdoc
    except ImportError:
        raise MissingNativePartError("pdoc writes the reference: install numapredict[dev]") from None
    for name in numapredict.__all__:
        getattr(numapredict, name)  # loads it: pdoc describes what a module has
    pdoc.pdoc("numapredict", "!numapredict[.].*", output_directory=folder)


if __name__ == "__main__":
    try:
        write_reference(Path(sys.argv[1] if len(sys.argv) > 1 else "reference"))
    except NumapredictError as error:
        sys.exit(f"numapredict: {error}")
