"""Campaigns: programs x mappings on any machine, into a dataset, resumable after a kill at any moment."""

import contextlib
import datetime
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from numapredict.collect.campaign.dask_scheduler import connected
from numapredict.collect.campaign.plan import Estimate, Options, Plan, estimate, left_by_program, plan, time_estimate_of
from numapredict.collect.campaign.run_count import RunCount, failure_in_words, run_in_words
from numapredict.collect.campaign.workers import Refusal, run_here, run_in_workers
from numapredict.collect.capturing.region_machine import RegionMachine
from numapredict.collect.data.dataset import DESCRIPTION_FILE, Dataset, read_dataset, write_dataset
from numapredict.collect.data.journal import JOURNAL_FILE, Header, Journal, Record, create_journal, read_journal
from numapredict.collect.host.durable import refused_as
from numapredict.collect.host.environment import host_environment
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import Mapping, order_of
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.seen_regions import in_common
from numapredict.collect.program import Program
from numapredict.collect.terminal.printable import printable
from numapredict.collect.terminal.progress import showing
from numapredict.native.errors import InvalidInputError

if TYPE_CHECKING:
    from distributed import Client

# What a caller needs to make a campaign and read its answers.
__all__ = ["Campaign", "Estimate", "Options", "Plan", "Summary"]

_ABOUT = tuple(name for name in Header.__struct_fields__ if name != "schema")  # of a dataset, too

log = logging.getLogger(__name__)


class Summary(msgspec.Struct, frozen=True):
    """How a campaign ended: pairs in the journal, those of them that failed, programs refused with the reason."""

    finished: int
    failed: int
    unsupported: int
    refused: tuple[tuple[str, str], ...]


@dataclass(eq=False)
class Campaign:
    """Programs x mappings on one machine, into the dataset in ``folder``.

    ``run`` journals every finished run and may be interrupted or killed at any moment; a campaign of the same folder
    continues from there. ``finish`` writes the journal's runs as the dataset. A finished dataset may be extended by
    more programs or mappings. ``made_by`` is the command to note in the dataset.
    """

    machine: Machine
    folder: Path
    programs: Sequence[Program]
    mappings: Sequence[Mapping]
    made_by: str
    options: Options = field(default_factory=Options)

    @property
    def journal_path(self) -> Path:
        """Return where the journal is."""
        return self.folder / JOURNAL_FILE

    def plan(self) -> Plan:
        """Return what is left to run; nothing is run or written."""
        return self._plan(self._record())

    def estimate(self) -> Estimate:
        """Return how long what is left will take; nothing is run or written."""
        record = self._record()
        return estimate(self._plan(record), self.machine, record, self.options)

    def spent_s(self, programs: Collection[str], mappings: Collection[Mapping]) -> float:
        """Return how long the finished runs of these programs under these mappings took, in seconds."""
        record = self._record()
        taken = zip(record.measurements, record.took_s, strict=True)
        return sum(took_s for m, took_s in taken if m.program in programs and m.mapping in mappings)

    def run(self) -> Summary:
        """Run what is left; InvalidInputError for a folder or journal that cannot be used. Finished runs are kept."""
        address = self.options.scheduler
        with contextlib.nullcontext() if address is None else connected(address) as client:
            with refused_as(f"cannot make the folder {self.folder}"):
                self.folder.mkdir(parents=True, exist_ok=True)
            if not self.journal_path.exists() and (self.folder / DESCRIPTION_FILE).exists():
                create_journal(self.journal_path, self._record())
            with Journal(self.journal_path, self._header()) as journal:
                return self._run(journal, self._plan(journal.record), journal.record, client)

    def finish(self) -> Dataset:
        """Write what the journal holds as the dataset, and return it; the journal stays, to be extended."""
        record = read_journal(self.journal_path)
        if record.header is None or not record.measurements:
            raise InvalidInputError(
                f"{self.folder}: no run has finished, so there is no dataset to write; run the campaign"
            )
        asked = {program.name: number for number, program in enumerate(self.programs)}
        # In the order requested, not the order of completion: the same campaign always gives the same dataset.
        programs = sorted(record.programs, key=lambda program: asked.get(program.name, len(asked)))
        dataset = dataset_of(record.header, programs, record.measurements)
        write_dataset(dataset, self.folder)
        return dataset

    def _run(self, journal: Journal, todo: Plan, record: Record, client: "Client | None" = None) -> Summary:
        """Run a plan, on the workers of Dask's ``client`` if there is one."""
        time_estimate, left = time_estimate_of(record), left_by_program(todo)
        refused = []
        spent_s = 0.0
        jobs = self.options.jobs
        count = RunCount(todo.finished + left.total(), todo.finished, todo.failed)
        introduced = {batch.program.name: batch.program for batch in todo.batches}
        if isinstance(self.machine, RegionMachine):
            for batch in todo.batches:
                self.machine.expect(batch.program, batch.mappings)

        def estimate_left() -> None:
            left_s = time_estimate.left_s(left)
            count.left_s = None if left_s is None else left_s / parallel

        if client is not None:
            from numapredict.collect.campaign.dask_workers import run_on_scheduler  # loads what models machines

            jobs = sum(client.nthreads().values())  # type: ignore[no-untyped-call]
            results = run_on_scheduler(client, self.machine, todo.batches)
        elif jobs > 1:
            results = run_in_workers(self.machine, todo.batches, jobs)
        else:
            results = run_here(self.machine, todo.batches)
        parallel = min(jobs, max(len(todo.batches), 1))
        with contextlib.ExitStack() as stack:
            estimate_left()
            stack.enter_context(showing(count))
            stack.callback(results.close)
            for result in results:
                if isinstance(result, Refusal):
                    left[result.program] -= result.runs
                    count.total -= result.runs
                    refused.append((result.program, result.reason))
                    log.warning(printable(f"{result.program} left out: {result.reason}"))
                    continue
                journal.introduce(introduced[result.measurement.program])
                measurement = journal.finished(result.measurement, result.took_s)
                time_estimate.add(measurement.program, result.took_s)
                left[measurement.program] -= 1
                estimate_left()
                failed = measurement.status != "ok"
                count.failed += failed
                if failed:
                    log.warning(failure_in_words(measurement))
                count.step(run_in_words(measurement), failed=failed)
                spent_s += result.took_s
                if spent_s >= self.options.most_s:
                    break
        return Summary(count.done, count.failed, todo.unsupported, tuple(refused))

    def _plan(self, record: Record) -> Plan:
        return plan(self.machine, self.programs, self.mappings, record, self.options)

    def _record(self) -> Record:
        """Return what is finished: what the journal holds, or where there is none the dataset."""
        return record_in(self.folder)

    def _header(self) -> Header:
        return Header(
            machine=self.machine.name,
            modelled=self.machine.modelled,
            made_by=self.made_by,
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            environment=host_environment(),
            topology=self.machine.topology,
        )


def record_in(folder: Path) -> Record:
    """Return what the journal in a campaign's folder holds, or where there is none its dataset."""
    if (folder / JOURNAL_FILE).exists() or not (folder / DESCRIPTION_FILE).exists():
        return read_journal(folder / JOURNAL_FILE)
    dataset = read_dataset(folder)
    if dataset.topology is None:
        raise InvalidInputError(
            f"{folder}: holds imported measurements, to which no campaign can add; name another folder"
        )
    header = Header(**{name: getattr(dataset, name) for name in _ABOUT})
    took_s = tuple(sum(r.time_s for r in m.repetitions) for m in dataset.measurements)
    return Record(header, dataset.programs, dataset.measurements, took_s)


def dataset_of(header: Header, programs: Sequence[Program], measurements: Sequence[Measurement]) -> Dataset:
    """Return the dataset of runs of one machine, with the programs in this order."""
    of_program: dict[str, list[Measurement]] = {program.name: [] for program in programs}
    for measurement in measurements:
        of_program[measurement.program].append(measurement)
    comparable = [m for own in of_program.values() for m in sorted(in_common(own), key=lambda m: order_of(m.mapping))]
    about = {name: getattr(header, name) for name in _ABOUT}
    return Dataset(**about, programs=tuple(programs), measurements=tuple(comparable))
