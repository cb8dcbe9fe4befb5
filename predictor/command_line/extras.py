"""What to install for a part whose libraries are missing: the extras of pyproject.toml."""

import contextlib
from collections.abc import Iterator

from numapredict.native.errors import MissingLibraryError

EXTRAS = {
    "joblib": "learn",
    "matplotlib": "figures",
    "pandas": "all",
    "pyarrow": "learn",
    "seaborn": "figures",
    "sklearn": "learn",
}
"""By module, the extra that installs it; both have pandas."""


@contextlib.contextmanager
def libraries_named() -> Iterator[None]:
    """Raise MissingLibraryError, with what to install, where a library of an extra is missing inside."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in EXTRAS:
            raise
        raise MissingLibraryError(
            f"this needs {name}, which is not installed: pip install 'numapredict[{EXTRAS[name]}]'"
        ) from None
