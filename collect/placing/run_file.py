"""The files that a placed run leaves: refused before the program starts, or written whole after it."""

import logging
import tempfile
from pathlib import Path

import msgspec

from numapredict.collect.host.durable import replace_file
from numapredict.collect.terminal.record_json import json_of
from numapredict.native.errors import InvalidInputError, NumapredictError, UnwritableError

JSON = "JSON file"
"""The file for the record of a run, as messages call it."""

log = logging.getLogger(__name__)


def check_place(path: Path, what: str) -> None:
    """Raise an error for a path that cannot be written after the run, or is not a file; ``what`` names it."""
    place = target(path, what)
    if place.exists() and not place.is_file():
        raise InvalidInputError(f"{what} {str(path)!r} cannot be written: it is no regular file; name another")
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", suffix=".numapredict"):
            pass
    except OSError as error:
        raise _unwritable(path, what, error) from None


def target(path: Path, what: str) -> Path:
    """Return the file behind a path, so that replacing it does not replace a link to it."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, until Python 3.13
        reason = error.strerror if isinstance(error, OSError) else "its links go in a circle"
        raise InvalidInputError(f"{what} {path} cannot be written: {reason}; name another file") from None


def put(path: Path, what: str, data: bytes) -> None:
    """Write a file in one step, with a new file's permissions; raise one of the errors here."""
    check_place(path, what)
    try:
        replace_file(target(path, what), data)
    except OSError as error:
        raise _unwritable(path, what, error) from None


def _unwritable(path: Path, what: str, error: OSError) -> UnwritableError:
    return UnwritableError(f"{what} {path} cannot be written: {error.strerror}; name another file")


def write_json(record: msgspec.Struct, path: Path) -> None:
    """Write the record of a run; a refusal by the system is only logged, to keep the program's exit code."""
    try:
        put(path, JSON, json_of(record))
    except NumapredictError as error:
        log.info(str(error))
