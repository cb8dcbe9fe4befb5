"""The work of every codelet with 16 threads over that with one: instructions in parallel regions, as traced.

More threads neither raise nor lower it, but where an algorithm itself does more (`tests/conformance/test_behaviour.py`
has their bounds, and tests one codelet for each way of sharing work).
"""

import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, show
from tests.conformance.test_behaviour import OWN_BOUNDS, made_up, work_done
from tests.integration.test_codelets import NAMES


@click.command()
@click.option("--json", "as_json", is_flag=True)
def main(as_json: bool) -> None:
    """Count the instructions of all codelets, small."""
    found = []
    with tempfile.TemporaryDirectory(prefix="numapredict-work-") as folder:
        machine = made_up(Path(folder), node_GBps=10.0, link_GBps=5.0)
        for codelet in NAMES:
            (one, _), (many, _) = (work_done(machine, codelet, threads) for threads in (1, 16))
            least, most = OWN_BOUNDS.get(codelet, (0.95, 1.05))
            found.append(Figure(codelet, "", (many / one,), f"{least} to {most}"))
    show(found, as_json=as_json)


if __name__ == "__main__":
    main()
