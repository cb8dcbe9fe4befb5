"""How many of many boots of a timed guest reach their command, and the kernel's last words in the others.

`python -m tests.benchmarks.guest_boots --rounds 50`. An emulating thread for each CPU is what may fail.
"""

import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, show
from tests.guest.errors import GuestError
from tests.guest.machine import Guest
from tests.guest.timed.configuration import Timing, timed_machine


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--rounds", default=20, show_default=True)
@click.option("--kernel-option", "kernel_options", multiple=True, help="For the kernel's command line; repeatable.")
@click.option("--json", "as_json", is_flag=True)
def main(machine: str, rounds: int, kernel_options: tuple[str, ...], as_json: bool) -> None:
    """Boot so many guests, one after the other; each runs `true`."""
    timing = Timing(timed_machine(machine))
    guest = Guest(timing.shape(), kernel_options, timing)
    boots_s: list[float] = []
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory(prefix="numapredict-boots-") as name:
            try:
                boots_s.append(guest.run(["true"], Path(name), timeout_s=600).boot_s)
                said = f"{boots_s[-1]:.1f} s"
            except GuestError as error:
                said = str(error)
        click.echo(f"boot {number} of {rounds}: {said}", err=True)
    good = Figure(f"boots of {rounds} that reached their command", "", (len(boots_s),))
    show([good, *([Figure("until its command began", "s", tuple(boots_s))] if boots_s else [])], as_json=as_json)


if __name__ == "__main__":
    main()
