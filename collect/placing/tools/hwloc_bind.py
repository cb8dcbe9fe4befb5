"""`hwloc`: OMP_* for the threads, hwloc-bind for the pages (hwloc-bind(1), hwloc(7), of hwloc 2.9).

Objects are named by OS index: logical ones count the objects that hwloc shows where the command is run, which differ by
cgroup. Without --strict pages of a full node go to another one instead of failing.
"""

from collections.abc import Iterable
from collections.abc import Mapping as Variables

from numapredict.collect.index_list import index_list
from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import Placement
from numapredict.collect.placing.tools.places import emitted_variables
from numapredict.collect.placing.tools.wrapping import Wrapping, late_binding
from numapredict.collect.placing.variables import CONFLICTING

# hwloc(7), environment variables: with these it describes something else than this computer, and then binds nothing.
_ELSEWHERE = ("HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS")


def hwloc_bind(placement: Placement, command: tuple[str, ...], shell: Variables[str, str]) -> Wrapping:
    """Return the call of hwloc-bind: all PUs of the threads, and a memory binding unless first touch is meant."""
    del shell
    cpus = _objects("pu", placement.pus)
    words = ("hwloc-bind", "--physical", "--cpubind", *cpus, *_memory(placement), "--", *command)
    variables = emitted_variables(placement, confined=True)
    return Wrapping(variables, words, (*CONFLICTING, *_ELSEWHERE), late_binding(placement))


def _memory(placement: Placement) -> tuple[str, ...]:
    kernel = FACTS[placement.mapping.page_policy].kernel
    if len(placement.topology.memory_nodes) == 1 or kernel is None or kernel == "local":
        return ()
    return ("--membind", "--mempolicy", kernel, *_objects("numanode", placement.os_page_nodes))


def _objects(kind: str, numbers: Iterable[int]) -> tuple[str, ...]:
    """Return objects as hwloc(7) writes them: ``pu:0-3 pu:8``."""
    return tuple(f"{kind}:{part}" for part in index_list(numbers).split(","))
