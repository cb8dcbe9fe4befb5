"""Write the gains that ship anew, from the shipped datasets: `python -m tests.golden.known_gains`."""

from numapredict.predictor.learning.dataset_gains import machine_gains
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.gains_file import MachineGains, write_gains
from numapredict.predictor.searching.prior import shipped_file


def made(name: str) -> MachineGains:
    """Return the gains of a shipped dataset."""
    dataset = open_dataset(name)
    return machine_gains(dataset, default_of(dataset, options_of(None, None, dataset)))


if __name__ == "__main__":
    write_gains([made(name) for name in shipped_datasets()], shipped_file())
