"""The output of a guest's script that does one thing after the other, each after a line with its name."""

import shlex

BEGINS = "== "


def named(name: str) -> str:
    """Return the shell's words that print a name."""
    return shlex.join(["echo", BEGINS + name])


def parts(output: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return each name with the lines that came after it; what came before the first name is left out."""
    found: list[tuple[str, list[str]]] = []
    for line in output.splitlines():
        if line.startswith(BEGINS):
            found.append((line.removeprefix(BEGINS), []))
        elif found:
            found[-1][1].append(line)
    return [(name, tuple(lines)) for name, lines in found]
