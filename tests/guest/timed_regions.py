"""Runs inside a timed guest: what replays of a program's regions say, and whole runs under the mappings they replayed.

Prints a line of JSON for each run as soon as it has ended: `regions` and the runs under all mappings are in turn.

    python -m tests.guest.timed_regions ROUNDS PROGRAM [ARGUMENT]...
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.guest.timed_session import asked, ready


def labels(answer: Mapping[str, Any]) -> list[str]:
    """Return the mappings under which a region was replayed, the baseline first."""
    gains = [gain["mapping"] for region in answer["regions"] for gain in region["gains"]]
    return list(dict.fromkeys([answer["baseline"], *gains]))


def printed(folder: Path, name: str, words: list[str]) -> dict[str, Any]:
    """Run a command that writes JSON to -o, print that after its name, and return it."""
    written = folder / "written.json"
    verb, *rest = words
    said = asked([verb, "-o", str(written), *rest], folder)
    if not written.is_file():
        raise SystemExit(f"{' '.join(said.words)} wrote nothing: {said.errors}")
    found: dict[str, Any] = json.loads(written.read_text())
    written.unlink()
    sys.stdout.write(json.dumps({"name": name, "written": found}) + "\n")
    sys.stdout.flush()
    return found


def main(rounds: str, *command: str) -> None:
    """Replay, then run whole under each mapping that was replayed in the first round; so often, in turn."""
    folder = ready()
    mappings: list[str] = []
    for _ in range(int(rounds)):
        answer = printed(folder, "regions", ["regions", *command])
        mappings = mappings or labels(answer)
        for label in mappings:
            printed(folder, label, ["run", "--mapping", label, "--", *command])


if __name__ == "__main__":
    main(*sys.argv[1:])
