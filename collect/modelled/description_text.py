"""The text of a machine description: a MachineFile as TOML, which ``parse_file`` reads back."""

from collections.abc import Iterator

import msgspec

from numapredict.collect.modelled.description_file import MachineFile, Table


def description_text(file: MachineFile, comment: str = "") -> str:
    """Return the file's text; ``comment`` is its first line."""
    lines = [f"# {comment}"] if comment else []
    lines += [f"name = {_value(file.name)}", f"summary = {_value(file.summary)}"]
    for name, table in file.tables():
        lines += ["", f"[{name}]", *_table(name, table)]
    return "\n".join(lines) + "\n"


def _table(name: str, table: Table) -> Iterator[str]:
    for field in table.__struct_fields__:
        value = getattr(table, field)
        if field != "source" and value not in (None, ()):
            yield f"{field} = {_value(value)}"
    if isinstance(table.source, str):
        yield f"source = {_value(table.source)}"
        return
    yield ""
    yield f"[{name}.source]"
    for figure, text in table.source.items():
        yield f"{figure} = {_value(text)}"


def _value(value: object) -> str:
    """Return a value as TOML has it: of numbers, truth values, texts and lists; each row of a matrix in a line."""
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return "[\n" + "".join(f"    {_value(row)},\n" for row in value) + "]"
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float):
        return repr(value)
    # JSON's texts, numbers and truth values are TOML's.
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
