"""Models as files: the only reader and writer.

A model is one JSON file and reading it never runs code. History of the schema version:

1. the first: machine, topology, options, default, probes, scales, rule, linkage, clusters.
2. expectation: what chooses the mapping; options.method.
3. fallbacks, expectation.reads: what chooses where the probes read less.
4. expectation.nearby, relative, noise: one program's own deviations; without them those of all programs.
5. expectation without nearby and relative: deviations are those of all programs.
6. without expectation, fallbacks, rule, selection_speedup: searches choose mappings. In older files they are ignored.
"""

import re
from pathlib import Path
from typing import Any

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.durable import reason_and_advice, write_whole
from numapredict.collect.mapping import from_label, to_label
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, NoModelError, NumapredictError
from numapredict.predictor.learning.model import SCHEMA_VERSION, Model

SIZE_LIMIT_BYTES = 64 * 1024 * 1024
"""A model of 100 programs and 500 mappings takes about 3 MB."""


_SEARCHES = 6  # the first version whose options say for which method


class _Version(msgspec.Struct, frozen=True):
    """The one field that every version of the file has."""

    schema_version: int


def read_model(path: Path) -> Model:
    """Return the model in a file; InvalidInputError for anything malformed, too new, or unreadable."""
    data = _read(path)
    try:
        version = msgspec.json.decode(data, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            raise InvalidInputError(
                f"{path}: schema_version is {version}, this numapredict reads up to {SCHEMA_VERSION}; "
                "use a newer numapredict or train again"
            )
        if version < _SEARCHES:
            return _of_older(data)
        return msgspec.json.decode(data, type=Model, dec_hook=from_label)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NumapredictError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"{path}: {_one_line(error)}; restore the file or train again") from error


def write_model(model: Model, path: Path) -> None:
    """Write a model in one step; UnwritableError where the system refuses, InvalidInputError for NaN in it."""
    data = msgspec.json.format(msgspec.json.encode(model, enc_hook=to_label), indent=1) + b"\n"
    try:
        # NaN would be written as null: an unreadable model must not replace a good file.
        msgspec.json.decode(data, type=Model, dec_hook=from_label)
    except (msgspec.DecodeError, NumapredictError) as error:
        raise InvalidInputError(f"model of {model.machine}: {_one_line(error)}; nothing was written") from error
    write_whole(path, data, f"cannot write the model {path}")


def check_topology(model: Model, topology: Topology) -> None:
    """Raise NoModelError unless the model was trained on a machine of this shape."""
    if model.topology.fingerprint != topology.fingerprint:
        raise NoModelError(
            f"the model is for {model.machine} ({model.topology.text}), not for {topology.name} "
            f"({len(topology.cpu_nodes)} nodes with {topology.core_count} cores): run 'numapredict train' here, "
            f"or name its machine with --machine {model.machine}"
        )


def _of_older(data: bytes) -> Model:
    """Return the model of an older file, of whose options the default and the number of clusters are left."""
    document = msgspec.json.decode(data, type=dict[str, Any])
    given = msgspec.convert(document.get("options"), dict[str, Any])
    method = "thesis" if given.get("method", "cluster") == "cluster" else "search"
    options = {"default": given.get("default"), "n_clusters": given.get("n_clusters"), "method": method}
    return msgspec.convert({**document, "options": options}, Model, dec_hook=from_label)


def _read(path: Path) -> bytes:
    try:
        return read_bounded(path, SIZE_LIMIT_BYTES)
    except FileNotFoundError as error:
        raise InvalidInputError(f"{path}: there is no such file; make it with 'numapredict train'") from error
    except OSError as error:
        raise InvalidInputError(
            f"cannot read {path}: {reason_and_advice(error)}; name a file that numapredict train wrote"
        ) from error


def _one_line(error: Exception) -> str:
    """Return an error's text without line breaks, cut to the length of a line."""
    text = re.sub(r"\s+", " ", str(error))
    return text if len(text) <= 300 else text[:297] + "..."
