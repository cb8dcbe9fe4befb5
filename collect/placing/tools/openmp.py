"""`env`: the OpenMP runtime's variables alone. They place threads; pages are left to first touch."""

from collections.abc import Mapping as Variables

from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import left_to_first_touch
from numapredict.collect.placing.tools.places import emitted_variables
from numapredict.collect.placing.tools.wrapping import Wrapping, late_binding
from numapredict.collect.placing.variables import CONFLICTING


def openmp(placement: Placement, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping | None:
    """Return the variables before the program; OpenMP 5.2 has none for the pages of a program that is not changed."""
    del shell
    if not left_to_first_touch(placement):
        return None
    cautions = late_binding(placement, confined=False)
    return Wrapping(emitted_variables(placement, confined=False), command, CONFLICTING, cautions)
