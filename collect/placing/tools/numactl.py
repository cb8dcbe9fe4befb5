"""`numactl`: OMP_* for the threads, numactl for the pages (numactl(8))."""

from collections import Counter
from collections.abc import Mapping as Variables

from numapredict.collect.index_list import index_list
from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import launch
from numapredict.collect.placing.tools.places import emitted_variables
from numapredict.collect.placing.tools.wrapping import Wrapping, late_binding
from numapredict.collect.placing.variables import CONFLICTING

WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave"


def numactl(placement: Placement, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping:
    """Return the call of numactl: --interleave, --preferred, --weighted-interleave, or no policy."""
    del shell
    policy: tuple[str, ...] = ()
    cautions = late_binding(placement)
    if FACTS[placement.mapping.page_policy].decided_by == "weights":
        policy, cautions = _weighted(placement)
    words = (*launch(placement).numactl, *policy, *command)
    return Wrapping(emitted_variables(placement, confined=True), words, CONFLICTING, cautions)


def _weighted(placement: Placement) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the option for weighted pages, and what must hold for it: the weights are the whole computer's."""
    weights = Counter(placement.os_indices(placement.chunks))
    settings = ", ".join(f"{WEIGHTS}/node{node} to {weight}" for node, weight in weights.items())
    return (f"--weighted-interleave={index_list(weights)}",), (
        f"it needs Linux 6.9, numactl 2.0.19, and root to set {settings} before, for all programs;"
        " numapredict run needs none of these",
    )
