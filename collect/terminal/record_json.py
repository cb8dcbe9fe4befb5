"""Records as JSON: names of programs and files may hold bytes that are no characters."""

import os
from typing import Any

import msgspec

from numapredict.collect.mapping import to_label


def json_of(record: Any) -> bytes:  # noqa: ANN401 - any record
    r"""Return a record as JSON; a byte of a name that is no character becomes its code, as `\xe9`."""
    return msgspec.json.format(msgspec.json.encode(_spelt(msgspec.to_builtins(record, enc_hook=to_label)))) + b"\n"


def _spelt(value: object) -> object:
    """Return a value of lists, dictionaries and the like with every text fit for UTF-8."""
    if isinstance(value, str):
        return os.fsencode(value).decode(errors="backslashreplace")
    if isinstance(value, dict):
        return {key: _spelt(inner) for key, inner in value.items()}
    return [_spelt(inner) for inner in value] if isinstance(value, list | tuple) else value
