"""Limits on the mappings that may be advised; pure."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import EXPRESSIBLE, FACTS, PagePolicy
from numapredict.collect.terminal.printable import counted
from numapredict.native.errors import UsageError

_OPTIONS = {"threads": "--threads", "nodes": "--nodes", "page_policies": "--page-policy"}


class Limits(msgspec.Struct, frozen=True):
    """The numbers of threads and nodes and the page policies that an advised mapping may have, any where there is none.

    With a number of nodes the pages are on no others. Without ``smt`` each core has one thread, and without
    ``library`` numactl and OMP_* apply the mapping. It has ``most_threads`` at most, if that is not None.
    """

    threads: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    page_policies: tuple[PagePolicy, ...] = ()
    smt: bool = True
    library: bool = True
    most_threads: int | None = None

    def allow(self, mapping: Mapping) -> bool:
        """Return whether a mapping, in its canonical form, is within all limits."""
        return (
            (not self.threads or mapping.threads in self.threads)
            and (self.most_threads is None or mapping.threads <= self.most_threads)
            and (not self.nodes or self._are_all_on_nodes(mapping))
            and (not self.page_policies or bool(_meant_by(mapping).intersection(self.page_policies)))
            and (self.smt or mapping.threads_per_core == 1)
            and (self.library or mapping.page_policy in EXPRESSIBLE)
        )

    def _are_all_on_nodes(self, mapping: Mapping) -> bool:
        away = FACTS[mapping.page_policy].away or mapping.page_nodes > mapping.thread_nodes
        return mapping.thread_nodes in self.nodes and not away

    def counted_of(self, mappings: Sequence[Mapping], machine: str) -> str:
        """Return in words how many of a machine's mappings are within the limits; UsageError where none is."""
        count = sum(map(self.allow, mappings))
        if count:
            return f"{counted(count, 'mapping')} of {len(mappings)} within the limits"
        for name, option in _OPTIONS.items():
            wanted = getattr(self, name)
            alone = Limits(**{name: wanted})
            if wanted and not any(map(alone.allow, mappings)):
                asked = " ".join(f"{option} {value}" for value in wanted)
                raise UsageError(f"{asked}: the mappings of {machine} have {_there_are(name, mappings)}")
        if self.most_threads is not None and any(map(msgspec.structs.replace(self, most_threads=None).allow, mappings)):
            raise UsageError(
                f"the control group's CPU quota has time for {counted(self.most_threads, 'thread')}: ask for no more"
            )
        raise UsageError(f"no mapping of {machine} is within all of these limits: leave one of them out")


def _meant_by(mapping: Mapping) -> set[PagePolicy]:
    """Return the page policies that place pages as this mapping does: on one node many are the same."""
    if mapping.page_policy == "bind" and mapping.thread_nodes == 1:
        return {"bind", *(policy for policy, facts in FACTS.items() if facts.with_threads)}
    return {mapping.page_policy}


def _there_are(name: str, mappings: Sequence[Mapping]) -> str:
    if name == "page_policies":
        return ", ".join(dict.fromkeys(mapping.page_policy for mapping in mappings))
    numbers = sorted({mapping.threads if name == "threads" else mapping.thread_nodes for mapping in mappings})
    return f"{', '.join(map(str, numbers))} {name}"
