"""`taskset`: OMP_* for the threads within a mask that taskset(1) sets, numactl for pages that need it."""

from collections.abc import Mapping as Variables

from numapredict.collect.index_list import index_list
from numapredict.collect.placement import Placement
from numapredict.collect.placing.command import memory_words
from numapredict.collect.placing.tools.places import emitted_variables
from numapredict.collect.placing.tools.wrapping import Wrapping, late_binding
from numapredict.collect.placing.variables import CONFLICTING


def taskset(placement: Placement, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping:
    """Return the call of taskset; unlike numactl it is on every computer with util-linux."""
    del shell
    words = ("taskset", "-c", index_list(placement.pus), *memory_words(placement), *command)
    return Wrapping(emitted_variables(placement, confined=True), words, CONFLICTING, late_binding(placement))
