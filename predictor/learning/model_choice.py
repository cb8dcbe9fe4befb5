"""Chooses the model to use: the one trained here, a shipped one by name, or a file; finds the nearest shipped one."""

import importlib.resources
from pathlib import Path

import msgspec
import platformdirs

from numapredict.collect.host.site_settings import setting
from numapredict.collect.near_name import did_you_mean
from numapredict.collect.topology import Topology
from numapredict.native.errors import NoModelError
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.store import read_model

FOLDER_VARIABLE = "NUMAPREDICT_DATA"
EMULATED = (
    "this computer is emulated by {}: its times mean nothing, and neither do speedups; only placement can be tried"
)


class ChosenModel(msgspec.Struct, frozen=True):
    """A model and its origin in words."""

    model: Model
    origin: str


def data_folder() -> Path:
    """Return the folder of models trained on this computer."""
    return Path(setting(FOLDER_VARIABLE) or platformdirs.user_data_dir("numapredict"))


def models_folder() -> Path:
    """Return the folder of models, and of what searches know, in it."""
    return data_folder() / "models"


def trained_model_path(machine: str, topology: Topology) -> Path:
    """Return where `numapredict train` keeps a machine's model: under its name and shape."""
    plain = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in machine).strip(".")[:60]
    return models_folder() / f"{plain}-{topology.fingerprint}.json"


def trained_gains_path(machine: str, topology: Topology) -> Path:
    """Return where `numapredict train` keeps what programs gained on a machine, beside its model."""
    return trained_model_path(machine, topology).with_suffix(".gains")


def shipped_models() -> tuple[str, ...]:
    """Return the names of the shipped models."""
    folder = importlib.resources.files("numapredict.models")
    return tuple(sorted(e.name.removesuffix(".json") for e in folder.iterdir() if e.name.endswith(".json")))


def check_choice(topology: Topology, command: str) -> None:
    """Raise NoModelError, with what to do about ``command``, on a computer with a single PU."""
    if topology.pu_count == 1:
        raise NoModelError(f"this computer has one processor, so there is nothing to choose. {_elsewhere(command)}")


def check_training(topology: Topology) -> None:
    """Raise NoModelError on a computer with a single node, of whose mappings a search runs all that matter."""
    if len(topology.nodes) == 1:
        raise NoModelError(
            "this computer has one NUMA node: a model would say nothing that numapredict ./app does not find in a few "
            f"runs. {_elsewhere('./app')}"
        )


def _elsewhere(command: str) -> str:
    machine = next(iter(shipped_models()), "NAME")
    return (
        f"To see what a NUMA machine would do, name one: numapredict --machine {machine} {command} (numapredict "
        "topology --list shows all)"
    )


def choose_model(machine: str, topology: Topology, wanted: str | None = None) -> ChosenModel | None:
    """Return the model of a machine, or None if there is none yet.

    ``wanted`` is a file or the name of a shipped model. Without it the model trained here precedes the shipped one of
    the machine's name. NoModelError for an unknown name; InvalidInputError for a file that is not a model.
    """
    if wanted is not None:
        return named_model(wanted)
    own = trained_model_path(machine, topology)
    if own.exists():
        return ChosenModel(read_model(own), "the model trained here")
    if machine in shipped_models():
        return ChosenModel(_shipped(machine), f"the shipped model {machine}")
    return None


def named_model(wanted: str) -> ChosenModel:
    """Return the shipped model of a name, or the model in a file; NoModelError for neither."""
    if wanted in shipped_models():
        return ChosenModel(_shipped(wanted), f"the shipped model {wanted}")
    if not wanted.endswith(".json") and not Path(wanted).exists():
        raise NoModelError(
            f"unknown model {wanted!r}{did_you_mean(wanted, shipped_models())}: the shipped models are "
            f"{', '.join(shipped_models()) or 'none'}; for your own give its .json file"
        )
    return ChosenModel(read_model(Path(wanted)), wanted)


def _shipped(name: str) -> Model:
    with importlib.resources.as_file(importlib.resources.files("numapredict.models") / f"{name}.json") as path:
        return read_model(path)
