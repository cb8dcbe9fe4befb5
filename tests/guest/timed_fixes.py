"""Runs inside a timed guest: what `variables --time` says that a fix saves, and what the fixed program saves.

Prints a line of JSON for each shape of misplaced data, as soon as its runs have ended: wrong and right, in turn.

    python -m tests.guest.timed_fixes ROUNDS PROGRAM KILOBYTES PASSES SHAPE[:ROW_KILOBYTES]...
"""

import json
import sys

from numapredict.collect.host.host import host_topology
from tests.guest.timed_session import asked, ready


def main(rounds: str, program: str, kilobytes: str, passes: str, *shapes: str) -> None:
    """Ask about each shape, of which the main thread touches all first; run it so and right. Ask about one right."""
    folder, topology = ready(), host_topology()
    threads = f"{topology.core_count}x{len(topology.cpu_nodes)}-contiguous-first-touch"
    for shape in (*shapes, "right"):
        name, _, row = shape.partition(":")
        words = [program, "array" if shape == "right" else name, "wrong", kilobytes, passes, *([row] if row else [])]
        right = [*words[:2], "right", *words[3:]]
        said = asked(
            ["variables", "--time", "--mapping", threads, "--json", *(right if shape == "right" else words)], folder
        )
        if said.exit_code:
            continue
        runs: dict[str, list[float]] = {"wrong": [], "right": []}
        for _ in range(int(rounds) if shape != "right" else 0):
            for how, command in (("wrong", words), ("right", right)):
                asked(["run", "--mapping", threads, "-o", str(folder / "run.json"), "--", *command], folder)
                runs[how].append(json.loads((folder / "run.json").read_text())["time_s"])
        sys.stdout.write(json.dumps({"shape": shape, "answer": json.loads(said.output), "runs": runs}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
