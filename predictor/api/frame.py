"""Records as pandas frames."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from numapredict.collect.mapping import to_label

if TYPE_CHECKING:
    import pandas as pd


def plain_of(record: msgspec.Struct) -> dict[str, Any]:
    """Return a record as plain values, as ``--json`` prints it."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record, enc_hook=to_label))
    return found


def frame_of(kind: type[msgspec.Struct], records: Iterable[msgspec.Struct], **same: object) -> "pd.DataFrame":
    """Return a row a record of a kind, a column a field: mappings are labels, records in records have dotted names.

    ``same`` are further columns, first, each with one value.

    >>> from numapredict.collect.mapping import Mapping
    >>> class Run(msgspec.Struct):
    ...     mapping: Mapping
    ...     time_s: float
    >>> frame_of(Run, [Run(Mapping(2, 1, "contiguous", 1, "bind"), 0.5)], program="app")
      program              mapping  time_s
    0     app  2x1-contiguous-bind     0.5
    """
    import pandas as pd

    rows = [{**same, **plain_of(record)} for record in records]
    return pd.json_normalize(rows) if rows else pd.DataFrame(columns=[*same, *kind.__struct_fields__])
