"""Say, after a few short runs of a program, where its threads and memory pages should live on a NUMA machine.

`predict` asks for a mapping and `run` applies one; `variables` and `regions` say what is slow and why; `Dataset` and
`Model` hold what was learned from, and `GainRegressor` is the learner for scikit-learn. All raise `NumapredictError`,
and print nothing unless asked to.

In a checkout this file lies beside links to the folders of the package; an installation has it beside the folders.
"""

TYPE_CHECKING = False  # type checkers take it for true; `numapredict --help` need not load `typing`
if TYPE_CHECKING:
    from numapredict.collect.mapping import AnyMapping as AnyMapping
    from numapredict.collect.mapping import Mapping as Mapping
    from numapredict.collect.mapping import parse_label as parse_label
    from numapredict.native.errors import NumapredictError as NumapredictError
    from numapredict.predictor.api.answer import Answer as Answer
    from numapredict.predictor.api.asking import predict as predict
    from numapredict.predictor.api.dataset import Dataset as Dataset
    from numapredict.predictor.api.estimator import GainRegressor as GainRegressor
    from numapredict.predictor.api.finding import regions as regions
    from numapredict.predictor.api.finding import topology as topology
    from numapredict.predictor.api.finding import variables as variables
    from numapredict.predictor.api.found import FoundRegions as FoundRegions
    from numapredict.predictor.api.found import FoundVariables as FoundVariables
    from numapredict.predictor.api.model import Model as Model
    from numapredict.predictor.api.running import CompletedRun as CompletedRun
    from numapredict.predictor.api.running import run as run

    __version__: str

_HOME = {
    "AnyMapping": "collect.mapping",
    "Mapping": "collect.mapping",
    "parse_label": "collect.mapping",
    "NumapredictError": "native.errors",
    "Answer": "predictor.api.answer",
    "predict": "predictor.api.asking",
    "Dataset": "predictor.api.dataset",
    "GainRegressor": "predictor.api.estimator",
    "regions": "predictor.api.finding",
    "topology": "predictor.api.finding",
    "variables": "predictor.api.finding",
    "FoundRegions": "predictor.api.found",
    "FoundVariables": "predictor.api.found",
    "Model": "predictor.api.model",
    "CompletedRun": "predictor.api.running",
    "run": "predictor.api.running",
}
__all__ = [*_HOME]  # noqa: PLE0604 - names, of a table

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return what is named above, loaded when it is asked for, and ``__version__``, that of what is installed."""
        if name in _HOME:
            from importlib import import_module

            found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
            globals()[name] = found
            return found
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from numapredict.native.version import version

        return version()

    def __dir__() -> list[str]:
        return sorted([*__all__, "__version__"])
