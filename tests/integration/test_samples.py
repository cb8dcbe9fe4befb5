"""Memory accesses sampled by perf, through the real perf: what a processor would say is put into its recordings.

A computer without PEBS or IBS samples page faults instead, which have addresses, CPUs and times, too.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.measuring.samples.perf_script import Accesses
from numapredict.collect.measuring.samples.selftest import doubt_of_samples
from numapredict.collect.measuring.samples.served import CACHE, LOCAL, REMOTE
from numapredict.collect.measuring.samples.source import Events, PerfSamples
from numapredict.collect.program import program_as_typed
from numapredict.collect.source.modules import Modules
from numapredict.predictor.variables.accesses import accesses_of
from numapredict.predictor.variables.grouping import found_in
from numapredict.predictor.variables.profiling import profiled
from tests.openmp import GCC
from tests.perf_data import source as source_of
from tests.perf_data import with_sources
from tests.samples import topology_of

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="no gcc"),
    pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed"),
]
SOURCES = Path(__file__).parent / "variables"
EVENTS = Events(("page-faults:u",), "page-faults", "page-faults", ("-c", "1"))
GIVEN = (
    (12, source_of(0x2 | 0x8, 0x1)),
    (300, source_of(0x2 | 0x80, 0xD)),
    (700, source_of(0x2 | 0x100, 0xD, remote=1)),
)
"""What samples are given in turn: served by L1, by local memory, by remote memory."""


class Given(PerfSamples):
    """Page faults, with the sources and latencies of loads."""

    def __init__(self, given: Sequence[tuple[int, int]] = GIVEN) -> None:
        super().__init__(events=EVENTS)
        self.given = given
        self.samples = 0

    def read(self, file: Path) -> Accesses:
        self.samples = with_sources(file, self.given)
        return super().read(file)


@pytest.mark.parametrize(("name", "variables"), [("five_arrays.c", ("wrong", "a")), ("static_array.c", ("grid",))])
def test_accesses_of_a_profiled_run_come_to_their_variables(
    name: str, variables: tuple[str, ...], tmp_path: Path
) -> None:
    program = tmp_path / "program"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", str(SOURCES / name), "-o", str(program)], check=True)
    taken = Given()
    assert taken.obstacle() is None
    ran = profiled(program_as_typed((str(program),)), 4, tmp_path, taken)
    assert (ran.exit_code, ran.notes) == (0, ())
    assert ran.samples is not None
    assert set(ran.samples.rows["served"].tolist()) == {CACHE, LOCAL, REMOTE}
    found = found_in(ran.profile, Modules(build_ids=ran.profile.build_ids))
    each, every = accesses_of(found, ran.profile, ran.samples, host_topology(), None)
    of = {one.name: accesses for one, accesses in zip(found, each, strict=True)}
    for variable in variables:
        accesses = of[variable]
        assert accesses is not None
        # Each page faults when it is touched first, and again when it is watched.
        assert accesses.samples >= 1024
        assert accesses.requests.local == pytest.approx(accesses.samples / 3, rel=0.05)
        assert accesses.requests.remote == pytest.approx(accesses.samples / 3, rel=0.05)
        assert accesses.remote_cycles == 700
    assert every.samples <= taken.samples  # the others are in the kernel's half
    assert every.lpi_numa == pytest.approx(700 / 3, rel=0.05)  # "an instruction" is a page fault here
    assert 0.8 * every.samples <= sum(one.samples for one in each if one is not None) <= every.samples


def test_arrays_at_the_same_address_have_their_own_accesses(tmp_path: Path) -> None:
    program = tmp_path / "program"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", str(SOURCES / "reused_memory.c"), "-o", str(program)], check=True)
    ran = profiled(program_as_typed((str(program),)), 2, tmp_path, PerfSamples(events=EVENTS))
    assert ran.samples is not None
    found = found_in(ran.profile, Modules(build_ids=ran.profile.build_ids))
    (start,) = {part.start for one in found for part in one.ranges}
    each, _ = accesses_of(found, ran.profile, ran.samples, host_topology(), None)
    of = {one.name: accesses for one, accesses in zip(found, each, strict=True)}
    assert set(of) == {"before", "after"}
    inside = (ran.samples.rows["address"] >= start) & (ran.samples.rows["address"] < start + 1024 * 4096)
    taken = [accesses.samples for accesses in of.values() if accesses is not None]
    assert all(samples >= 1024 for samples in taken)
    assert sum(taken) >= 0.95 * int(inside.sum())


@pytest.mark.parametrize(
    ("given", "reasons"),
    [
        (GIVEN[:2], ()),
        (GIVEN[::2], ("it calls 100% of node 0's local loads remote",)),
        (GIVEN[:1], ("that memory served them",)),
    ],
)
def test_samples_are_believed_only_if_they_tell_what_served_known_loads(
    given: Sequence[tuple[int, int]], reasons: Sequence[str], tmp_path: Path
) -> None:
    here, source = topology_of((1,)), Given(given)
    doubt = doubt_of_samples(source, here, tmp_path)
    assert (doubt == "") == (not reasons)
    assert all(reason in doubt for reason in reasons)
    # The verdict is kept: it is not tested again.
    source.samples = 0
    assert (doubt_of_samples(source, here, tmp_path), source.samples) == (doubt, 0)


def test_a_program_under_perf_ends_as_without_it(tmp_path: Path) -> None:
    program = tmp_path / "program"
    code = '#include <stdlib.h>\nint main(void) {\n#pragma omp parallel\n{ }\n exit(getenv("LD_PRELOAD") ? 26 : 1); }\n'
    (tmp_path / "program.c").write_text(code)
    subprocess.run([GCC, "-fopenmp", str(tmp_path / "program.c"), "-o", str(program)], check=True)
    ran = profiled(program_as_typed((str(program),)), 2, tmp_path, PerfSamples(events=EVENTS))
    assert ran.exit_code == 26
    assert ran.samples is not None


def test_a_recording_that_is_missing_costs_a_note_alone(tmp_path: Path) -> None:
    class Gone(PerfSamples):
        def read(self, file: Path) -> Accesses:
            file.unlink()
            return super().read(file)

    program = tmp_path / "program"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", str(SOURCES / "static_array.c"), "-o", str(program)], check=True)
    ran = profiled(program_as_typed((str(program),)), 2, tmp_path, Gone(events=EVENTS))
    assert ran.samples is None
    assert ran.notes == ("memory accesses were sampled, but not read: perf recorded nothing",)
