"""The environment of a program whose regions are replayed while it runs."""

from collections.abc import Mapping
from pathlib import Path

from numapredict.collect.capturing.exchange import VARIABLE
from numapredict.collect.placement import Placement
from numapredict.collect.placing.tools.places import emitted_variables
from numapredict.collect.placing.variables import CONFLICTING


def capturing_environment(
    caller: Mapping[str, str], placement: Placement, library: Path, settings: str
) -> dict[str, str]:
    """Return the caller's environment with threads placed as the baseline wants, and the capture library preloaded.

    ``settings`` are as ``variable_text`` gives them.
    """
    environment = {name: value for name, value in caller.items() if name not in CONFLICTING}
    environment.pop("OMP_PLACES", None)
    # Without it LLVM's runtime is not fit for a fork; scikit-learn sets it to FALSE for all that Python starts.
    environment.pop("KMP_INIT_AT_FORK", None)
    own = [environment.get("LD_PRELOAD", ""), str(library)]
    # In a fork, LLVM's runtime (14) aborts where OMP_PLACES is a list of numbers.
    chosen = dict(emitted_variables(placement, confined=True))
    environment |= {name: value for name, value in chosen.items() if "{" not in value}
    return environment | {"LD_PRELOAD": ":".join(filter(None, own)), VARIABLE: settings}
