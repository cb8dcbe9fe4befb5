"""The command line: one command in a guest, as if it ran here."""

import sys
import tempfile
from pathlib import Path

import click

from tests.guest.errors import GuestError, GuestTimeoutError
from tests.guest.kernel import fetch_kernel
from tests.guest.machine import Guest
from tests.guest.shape import Shape
from tests.guest.timed.configuration import timing_of


@click.command()
@click.argument("shape", required=False)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--distances", default="", help="ring, a file of rows, or rows as in '10,16;22,10' (from node to node).")
@click.option("--smt", default=1, show_default=True, metavar="N", help="N CPUs on each core, in place of one.")
@click.option("--memory-only", default=0, metavar="N", help="N further nodes without CPUs.")
@click.option("--memory-mb", default=384, show_default=True, help="Memory of each node.")
@click.option("--kernel-option", "kernel_options", multiple=True, help="For the kernel's command line; repeatable.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="For the command; repeatable.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False, exists=True), help="The writable folder.")
@click.option("--timeout", "timeout_s", default=300.0, show_default=True, metavar="S", help="Boot included.")
@click.option("--times", is_flag=True, help="Say on standard error how long boot and command took.")
@click.option("--timed", metavar="MACHINE", help="Instead of SHAPE: a machine whose memory times the guest has.")
@click.option("--factor", type=float, help="How many times slower than MACHINE.")
@click.option("--fetch-kernel", "fetch", is_flag=True, help="Only fetch the guest's kernel.")
def main(
    shape: str | None,
    command: tuple[str, ...],
    distances: str,
    smt: int,
    memory_only: int,
    memory_mb: int,
    kernel_options: tuple[str, ...],
    variables: tuple[str, ...],
    folder: Path | None,
    timeout_s: float,
    times: bool,
    timed: str | None,
    factor: float | None,
    fetch: bool,
) -> None:
    """Run COMMAND (after --) in a Linux guest of SHAPE, such as 4x4: 4 NUMA nodes with 4 cores each.

    With --timed, programs started by `charged PROGRAM...` in the guest, and those named in --env GUEST_PAYS=NAME:NAME,
    wait for their memory as on MACHINE; all others run free.
    It sees this computer's files, read-only, and can write to GUEST_FOLDER. Exits with the command's exit code (128 +
    signal where one killed it), 2 where there was no guest, 124 when the time was spent.
    """
    try:
        if fetch:
            click.echo(fetch_kernel())
            return
        timing = timing_of(timed, factor) if timed else None
        if timing and shape is not None:
            command = (shape, *command)  # the first word after --
        elif shape is None or not command:
            raise GuestError("say which guest and what to run, as in: python -m tests.guest 4x4 -- numactl -H")
        if any("=" not in variable for variable in variables):
            raise GuestError(f"--env takes NAME=VALUE, not {variables}")
        asked = timing.shape(memory_mb) if timing else Shape.parse(shape, distances, memory_only, memory_mb, smt)
        guest = Guest(asked, kernel_options, timing)
        environment = dict(variable.split("=", 1) for variable in variables)
        with tempfile.TemporaryDirectory(prefix="numapredict-guest-folder-") as made:
            follow = (sys.stdout.buffer, sys.stderr.buffer)
            result = guest.run(command, folder or Path(made), environment, timeout_s, follow)
    except GuestError as error:
        click.echo(f"guest: {error}", err=True)
        sys.exit(124 if isinstance(error, GuestTimeoutError) else 2)
    if times:
        click.echo(f"guest: booted in {result.boot_s:.1f} s, ended after {result.total_s:.1f} s", err=True)
    sys.exit(result.exit_code)
