"""Counterparts: which of our mappings the opaque ones of an imported table are nearest to, and on what machine.

With them, what other machines' programs gained can be carried over to the table's mappings. Two of these may have the
same counterpart: threads that are not bound and threads placed round-robin, for instance.
"""

import msgspec

from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.space import fits
from numapredict.collect.topology import Topology


class Counterparts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ``topology`` of a table's machine, and pairs of an opaque mapping and one of that topology."""

    topology: Topology
    pairs: tuple[tuple[AnyMapping, AnyMapping], ...]

    def __post_init__(self) -> None:
        """Raise ValueError for a mapping that is there twice, and for a counterpart that does not fit the topology."""
        if len({opaque for opaque, _ in self.pairs}) != len(self.pairs):
            raise ValueError("counterparts: a mapping is there twice")
        for opaque, mapping in self.pairs:
            if not isinstance(mapping, Mapping) or not fits(mapping, self.topology):
                raise ValueError(
                    f"counterparts: {mapping.label}, for {opaque.label}, is no mapping of {self.topology.name}"
                )

    def of(self, mapping: AnyMapping) -> Mapping:
        """Return a mapping's counterpart; KeyError where it has none."""
        found = dict(self.pairs)[mapping]
        if not isinstance(found, Mapping):
            raise KeyError(mapping)
        return found
