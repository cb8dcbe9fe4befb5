"""The last advice for a program on this computer, which `numapredict run` applies where no mapping is named.

One JSON object a program in the cache folder, named by the executable's path and the part of the computer that may be
used; written whole, read with types and without running code.
"""

import hashlib
import logging
import time
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.durable import replace_file
from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import AnyMapping, Mapping, parse_label
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.hints import has_hints
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import printable
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError, KeptAsItIsError, UsageError

_BY_ITSELF = "spread"
"""The mapping by which a program runs as it would by itself (collect/binding.py)."""

_VERSION = 1
_SIZE_LIMIT_BYTES = 1 << 16

log = logging.getLogger(__name__)


class LastAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """What was advised and when, in seconds since 1970; ``mapping``: a label, or None to keep the program so."""

    schema_version: int
    mapping: str | None
    made_s: float


def keep_advice(program: Program, topology: Topology, mapping: AnyMapping) -> None:
    """Keep an answer for a program on this computer; where that cannot be, a line says so."""
    label = mapping.label if isinstance(mapping, Mapping) else None
    found = LastAdvice(schema_version=_VERSION, mapping=label, made_s=time.time())
    path = _path(program, topology)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, msgspec.json.encode(found))
    except OSError as error:
        log.info(f"the advice is not kept for `numapredict run`: {path}: {error.strerror or error}")


def last_label(program: Program) -> str:
    """Return the label that was advised last; a line says which and when.

    UsageError where nothing was advised, or its file is damaged; KeptAsItIsError where it was to change nothing.
    """
    name = printable(program.command[0])
    path, ask = _path(program, host_topology()), f"ask by numapredict {name}, or name a --mapping"
    try:
        found = msgspec.json.decode(read_bounded(path, _SIZE_LIMIT_BYTES), type=LastAdvice)
        if found.schema_version != _VERSION:
            raise UsageError(f"the last advice for {name} was kept by another version of numapredict: {ask}")
        label = None if found.mapping is None else parse_label(found.mapping).label
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"no mapping was advised for {name} on this computer yet: {ask}") from None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, InvalidMappingError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"the last advice for {name} cannot be read: {path}: {reason}; {ask}") from None
    age = in_words(max(time.time() - found.made_s, 0.0))
    if label is None:
        log.info(f"the last advice for {name}, {age} ago: keep it as it is")
        raise KeptAsItIsError(f"the last advice for {name} was to keep it as it is: name a --mapping")
    log.info(f"the last advice for {name}, {age} ago: {label}")
    return label


def label_to_run(program: Program) -> str:
    """Return `last_label`; for a program that says what it knows (numapredict.h) `label_or_itself`."""
    if not has_hints(Path(program.directory or ".", executable_of(program))):
        return last_label(program)
    return label_or_itself(program, "its threads and memory go by what it says (numapredict.h)")


def label_or_itself(program: Program, otherwise: str) -> str:
    """Return the label under which a program runs where none is named: the last advice's, if it has one.

    Else the program runs as it would by itself: with its threads over all nodes, and pages by first touch; a line says
    what happens ``otherwise``.
    """
    try:
        if _path(program, host_topology()).exists():
            return last_label(program)
    except KeptAsItIsError:
        pass
    else:
        log.info(f"no mapping was advised for {printable(program.command[0])} yet: {otherwise}")
    return _BY_ITSELF


def _path(program: Program, topology: Topology) -> Path:
    executable = Path(program.directory or ".", executable_of(program)).resolve()
    digest = hashlib.sha256(repr((str(executable), topology.as_unmeasured)).encode()).hexdigest()[:32]
    return cache_folder() / "advice" / f"{digest}.json"
