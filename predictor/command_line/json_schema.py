"""JSON Schema of what commands print with `--json`, made from the records that they print."""

import pkgutil
from types import GenericAlias
from typing import Any

import msgspec

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.command import Command

DIALECT = "https://json-schema.org/draft/2020-12/schema"  # what msgspec writes
_ARRAY = "[]"


def schema_of(name: str, command: Command) -> dict[str, Any]:
    """Return the schema of a command's answers; for several types, ``anyOf`` their schemas."""
    types = tuple(_type_of(answer) for answer in command.answers)
    schemas, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}", schema_hook=_as_text)
    whole = dict(schemas[0]) if len(schemas) == 1 else {"anyOf": list(schemas)}
    described = {"$schema": DIALECT, "title": f"numapredict {name} --json", **whole}
    return _flowing({**described, "$defs": dict(components)} if components else described)


def _as_text(kind: type) -> dict[str, Any]:
    """Return the schema of a mapping, which is its label in JSON (``to_label``)."""
    if issubclass(kind, AnyMapping):
        return {"type": "string"}
    raise NotImplementedError(f"no form in JSON for {kind.__name__}")


def _flowing(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with each description (a docstring) on one line."""
    return {
        key: " ".join(value.split())
        if key == "description" and isinstance(value, str)
        else _flowing(value)
        if isinstance(value, dict)
        else value
        for key, value in schema.items()
    }


def _type_of(answer: str) -> Any:  # noqa: ANN401 - a type, as msgspec takes it
    record = pkgutil.resolve_name(answer.removesuffix(_ARRAY))
    return GenericAlias(tuple, (record, ...)) if answer.endswith(_ARRAY) else record
