"""Runs inside a timed guest: a plan for a program's phases, by the two commands that make it, and whole runs in turn.

Those are under the plan, as the program is, with all pages on the first node or by touches, and under the best mapping
for all regions. Prints a line of JSON for each run as soon as it has ended.

    python -m tests.guest.timed_phases ROUNDS PROGRAM [ARGUMENT]...
"""

import sys

from tests.guest.timed_regions import printed
from tests.guest.timed_session import asked, ready

PLAN = "plan"
PAGES = ("-first-touch", "-bind@1", "-locality")
SECONDS = "3600"  # for the replays: all is slower there


def main(rounds: str, *command: str) -> None:
    """Make the plan, then run whole in each way, so often, in turn."""
    folder = ready()
    profile, plan = folder / "profile", folder / "made.plan"
    asked(["run", "--profile", str(profile), "--", *command], folder)
    words = ["regions", "--seconds", SECONDS, "--plan", str(plan), "--profile", str(profile)]
    answer = printed(folder, "regions", [*words, "--", *command])
    labels = [answer["baseline"].replace("-first-touch", pages) for pages in PAGES]
    labels += [one["mapping"] for one in answer["one_mapping"][:1]]
    ways = {PLAN: ["--plan", str(plan)]} if plan.exists() else {}
    ways |= {label: ["--mapping", label] for label in labels}
    for _ in range(int(rounds)):
        for name, way in ways.items():
            printed(folder, name, ["run", *way, "--verify", "--", *command])


if __name__ == "__main__":
    main(*sys.argv[1:])
