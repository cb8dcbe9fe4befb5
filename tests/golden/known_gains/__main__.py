"""Write the gains that ship anew: `python -m tests.golden.known_gains`.

They are those of the shipped datasets' codelets and of the applications, and of codelets on machines with several L3
caches a node. The last two have files of their own with what campaigns measured: `--applications FOLDER` and `--l3s
FOLDER` (repeatable) make these anew, too, from one campaign's folder for each machine.
"""

import importlib.resources
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.learning.dataset_gains import machine_gains
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of, read_gains, write_gains
from numapredict.predictor.searching.prior import shipped_file

APPLICATIONS = "applications"
"""The group of all applications in the gains that ship."""


def applications_file() -> Path:
    """Return the file of what the applications gained, machine by machine."""
    return Path(str(importlib.resources.files("numapredict.training_data"))) / "application_gains.msgpack"


def l3s_file() -> Path:
    """Return the file of what codelets gained on machines with several L3 caches a node."""
    return Path(str(importlib.resources.files("numapredict.training_data"))) / "l3_gains.msgpack"


def gains_in(dataset: Dataset) -> MachineGains:
    """Return the gains of a dataset's programs over the default that training takes."""
    return machine_gains(dataset, default_of(dataset, options_of(None, None, dataset)))


def with_programs(known: MachineGains, more: MachineGains) -> MachineGains:
    """Return the machine's programs, and ``more`` of them as one group; ValueError if these ran elsewhere or otherwise.

    One group of all applications, so that they weigh as much as one codelet. With a group for each, a search of
    modelled programs by others (LULESH, GAPBS) captures as much on average over two machines, one of left-out codelets
    0.04 less to 0.01 more, one of left-out applications more; but the gains of one node alone come first where nothing
    but modelled machines is known, and on the times that MCTOP measured on lpdquad 0.31 is captured after two runs, not
    0.59.
    """
    if (known.topology, known.default) != (more.topology, more.default) or set(known.mappings) != set(more.mappings):
        raise ValueError(f"{known.machine}: its programs ran on another shape or under other mappings")
    columns = [more.mappings.index(label) for label in known.mappings]
    return msgspec.structs.replace(
        known,
        groups=known.groups + (APPLICATIONS,) * len(more.groups),
        numbers=numbers_of(np.vstack([known.gains, more.gains[:, columns]])),
    )


def made(name: str) -> MachineGains:
    """Return the gains of a shipped dataset's programs, and of the applications on its machine."""
    codelets = gains_in(open_dataset(name))
    found = [each for each in read_gains(applications_file()) if each.machine == codelets.machine]
    return with_programs(codelets, found[0]) if found else codelets


@click.command()
@click.option("--applications", multiple=True, type=click.Path(exists=True))
@click.option("--l3s", multiple=True, type=click.Path(exists=True))
def main(applications: Sequence[str], l3s: Sequence[str]) -> None:
    """Write the file, and before it those for which folders of campaigns are named."""
    for folders, file in ((applications, applications_file()), (l3s, l3s_file())):
        if folders:
            write_gains([gains_in(open_dataset(folder)) for folder in folders], file)
    write_gains([*(made(name) for name in shipped_datasets()), *read_gains(l3s_file())], shipped_file())


if __name__ == "__main__":
    main()
