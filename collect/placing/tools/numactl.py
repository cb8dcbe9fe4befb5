"""`numactl`: OMP_* for the threads, numactl for the pages (numactl(8))."""

from collections.abc import Mapping as Variables

from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import launch
from numapredict.collect.placing.tools.places import emitted_variables
from numapredict.collect.placing.tools.wrapping import Wrapping, late_binding
from numapredict.collect.placing.variables import CONFLICTING


def numactl(placement: Placement, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping:
    """Return the call of numactl: --interleave, --preferred, or no policy."""
    del shell
    words = (*launch(placement).numactl, *command)
    return Wrapping(emitted_variables(placement, confined=True), words, CONFLICTING, late_binding(placement))
