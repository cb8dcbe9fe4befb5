"""RecordedMachine: answers from a dataset, ours or a foreign one."""

import difflib
from collections.abc import Sequence

import msgspec

from numapredict.collect.data.dataset import Dataset, same_command
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.placement import resolve
from numapredict.collect.program import Program
from numapredict.collect.space import canonical
from numapredict.native.errors import (
    InvalidInputError,
    InvalidMappingError,
    UnrunnableProgramError,
    UnsupportedMappingError,
)

_NEAREST = 3


class RecordedMachine:
    """The machine on which a dataset was made, as far as the dataset knows it.

    A program is found by its name, with the same arguments and environment as recorded; a mapping by its canonical
    form, so that any equal label finds it. Opaque mappings cannot be run.

    Raises InvalidInputError for a dataset without a topology.
    """

    executions = 1
    controllers_GBps = ()

    def __init__(self, dataset: Dataset) -> None:
        if dataset.topology is None:
            raise InvalidInputError(
                f"the dataset of {dataset.machine} does not say what the machine looks like, so nothing can be run "
                "there; evaluate it instead"
            )
        self.dataset = dataset
        self.name, self.topology, self.modelled = dataset.machine, dataset.topology, dataset.modelled
        self._programs = {program.name: program for program in dataset.programs}
        self._meanings: dict[Mapping, Mapping] = {}
        self._found: dict[tuple[str, Mapping], Measurement] = {}
        for measurement in dataset.measurements:
            if isinstance(measurement.mapping, Mapping):
                self._found[measurement.program, self._meaning(measurement.mapping)] = measurement
        self._mappings = {mapping for _, mapping in self._found}

    def supports(self, mapping: Mapping) -> bool:
        """Return whether any program was recorded under the mapping."""
        return self._meaning(mapping) in self._mappings

    def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: a recording does not know how long its runs took with all repetitions."""

    def traces_to_take(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: a recording needs no traces."""

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Return what was recorded for the program under the mapping.

        Raises UnrunnableProgramError for an unknown program, UnsupportedMappingError for a mapping that it was not
        recorded under, and InvalidMappingError for one that does not fit the machine.
        """
        meaning = self._meaning(mapping)
        recorded = self._programs.get(program.name)
        if recorded is None or not same_command(recorded, program):
            raise UnrunnableProgramError(f"{self._unknown(program, recorded)}; `numapredict collect` records programs")
        measurement = self._found.get((program.name, meaning))
        if measurement is None:
            resolve(mapping, self.topology)  # raises where it never could have run
            known = sorted(
                (m.label for name, m in self._found if name == program.name), key=lambda label: (len(label), label)
            )
            near = difflib.get_close_matches(mapping.label, known, n=_NEAREST, cutoff=0.0)
            raise UnsupportedMappingError(
                f"program {program.name!r} was not recorded on {self.name} under {mapping.label};"
                f" nearest of its {len(known)} recorded mappings: {', '.join(near) or 'none'}"
            )
        return msgspec.structs.replace(measurement, mapping=mapping)

    def _meaning(self, mapping: Mapping) -> Mapping:
        """Return the canonical form; an imported mapping that does not fit the topology is its own."""
        if mapping not in self._meanings:
            try:
                self._meanings[mapping] = canonical(mapping, self.topology)
            except InvalidMappingError:
                self._meanings[mapping] = mapping
        return self._meanings[mapping]

    def _unknown(self, program: Program, recorded: Program | None) -> str:
        if recorded is not None:
            return f"program {program.name!r} was recorded on {self.name} with other arguments or variables"
        near = difflib.get_close_matches(program.name, self._programs, n=_NEAREST, cutoff=0.0)
        return f"program {program.name!r} was not recorded on {self.name}; nearest names: {', '.join(near) or 'none'}"
