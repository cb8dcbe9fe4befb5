"""Say, after two short runs of a program, where its threads and memory pages should live on a NUMA machine.

`predict` and `search` ask for a mapping, `run` applies one, `Dataset` and `Model` hold what was learned from, and
`GainRegressor` is the learner for scikit-learn. All raise `NumapredictError`, and print nothing.

In a checkout this file lies beside links to the folders of the package; an installation has it beside the folders.
"""

TYPE_CHECKING = False  # type checkers take it for true; `numapredict --help` need not load `typing`
if TYPE_CHECKING:
    from numapredict.collect.mapping import Mapping, parse_label
    from numapredict.native.errors import NumapredictError
    from numapredict.predictor.api.answer import Answer
    from numapredict.predictor.api.asking import predict, search
    from numapredict.predictor.api.dataset import Dataset, TrainingTable
    from numapredict.predictor.api.gain_regressor import GainRegressor
    from numapredict.predictor.api.model import Model
    from numapredict.predictor.api.placed_run import CompletedRun, run

    __version__: str

__all__ = [
    "Answer",
    "CompletedRun",
    "Dataset",
    "GainRegressor",
    "Mapping",
    "Model",
    "NumapredictError",
    "TrainingTable",
    "parse_label",
    "predict",
    "run",
    "search",
]

_PLACES = {
    "collect.mapping": ("Mapping", "parse_label"),
    "native.errors": ("NumapredictError",),
    "predictor.api.answer": ("Answer",),
    "predictor.api.asking": ("predict", "search"),
    "predictor.api.dataset": ("Dataset", "TrainingTable"),
    "predictor.api.gain_regressor": ("GainRegressor",),
    "predictor.api.model": ("Model",),
    "predictor.api.placed_run": ("CompletedRun", "run"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return what is asked for, loaded then: the version of what is installed, or a name of the interface."""
        if name == "__version__":
            return _version()
        for place, names in _PLACES.items():
            if name in names:
                from importlib import import_module

                globals()[name] = found = getattr(import_module(f"numapredict.{place}"), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numapredict")
    except PackageNotFoundError:
        return "not installed"
