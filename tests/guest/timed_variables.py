"""Runs inside a timed guest: which variables are in the wrong place, and what placing each of them alone gains.

Prints a line of JSON for each command as soon as it has ended, as tests/guest/timed_session.py; the runs of all plans
and of none are in turn.

    python -m tests.guest.timed_variables ROUNDS PROGRAM [ARGUMENT]...
"""

import json
import sys

from numapredict.collect.host.host import host_topology
from tests.guest.timed_session import asked, ready


def main(rounds: str, *command: str) -> None:
    """Profile once, judge it for each plan, then run under every plan and under none."""
    folder, topology = ready(), host_topology()
    threads = f"{topology.core_count}x{len(topology.cpu_nodes)}-contiguous-first-touch"
    profile = folder / "profile"
    asked(["run", "--mapping", threads, "--profile", str(profile), "--", *command], folder)
    judge = ["variables", "--mapping", threads, "--profile", str(profile)]
    found = asked([*judge, "--plan", str(folder / "all"), "--json"], folder)
    if found.exit_code:
        return
    answer = json.loads(found.output)
    plan, known = answer["plan"], {one["name"] for one in answer["variables"]}
    names = [one["name"] for one in plan["variables"] if one["name"] in known] if plan else []
    if not plan:
        return
    for name in names:
        asked([*judge, "--plan", str(folder / name), "--variable", name], folder)
    for _ in range(int(rounds)):
        for placed in ("", *names, "all"):
            planned = ["--plan", str(folder / placed)] if placed else []
            written = folder / f"run-{placed}.json"
            asked(["run", "--mapping", threads, *planned, "-o", str(written), "--", *command], folder)
            sys.stdout.write(json.dumps({"plan": placed, "run": json.loads(written.read_text())}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
