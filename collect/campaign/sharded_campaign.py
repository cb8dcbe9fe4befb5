"""A shard of a campaign: some of its programs, on one of many nodes that write into one folder."""

import logging
from dataclasses import dataclass, field

from numapredict.collect.campaign.campaign import Campaign, Summary, dataset_of
from numapredict.collect.campaign.control import control_programs
from numapredict.collect.campaign.plan import Batch, estimate, plan
from numapredict.collect.campaign.shard import Shard
from numapredict.collect.campaign.shard_journals import Source, joined, new_journal, shard_journals
from numapredict.collect.campaign.workers import Refusal, run_here
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.journal import Journal, Record
from numapredict.collect.data.machine_kind import kind_of
from numapredict.collect.host.durable import refused_as
from numapredict.collect.space import default_mapping
from numapredict.collect.terminal.printable import printable
from numapredict.native.errors import InvalidInputError
from numapredict.native.version import version

log = logging.getLogger(__name__)


@dataclass(eq=False)
class ShardedCampaign(Campaign):
    """The share of a campaign that is ``shard``; ``programs`` are its alone.

    What any shard has finished on this kind of machine, however many shards there were, is not run again. ``run``
    begins with the control, and writes into a new journal. ``finish`` writes nothing: `collect merge` does.
    """

    shard: Shard = field(kw_only=True)

    def run(self) -> Summary:
        """Run what is left; InvalidInputError for a folder or a journal that cannot be used."""
        with refused_as(f"cannot make the folder {self.folder}"):
            self.folder.mkdir(parents=True, exist_ok=True)
        sources = self._sources()
        record = joined(sources)
        todo = self._plan(record)
        if not todo.batches and any(source.name and source.name.shard == self.shard for source in sources):
            return Summary(todo.finished, todo.failed, todo.unsupported, ())
        # That of a shard without programs shows that it was not forgotten.
        with new_journal(self.folder, self.shard, self._header()) as journal:
            if todo.batches:
                self._run_control(journal)
            return self._run(journal, todo, record)

    def longest_shard_s(self, shards: int) -> float:
        """Return how long the longest of so many shards of this campaign will take, in seconds."""
        record = self._record()
        parts = [Shard(number, shards).programs_of(self.programs) for number in range(shards)]
        plans = [plan(self.machine, part, self.mappings, record, self.options) for part in parts]
        return max(estimate(todo, self.machine, record, self.options).time_s for todo in plans)

    def finish(self) -> Dataset:
        """Return what the journals hold of this shard's programs."""
        record, own = self._record(), {program.name for program in self.programs}
        return dataset_of(
            self._header(),
            [program for program in record.programs if program.name in own],
            [measurement for measurement in record.measurements if measurement.program in own],
        )

    def _run_control(self, journal: Journal) -> None:
        """Run the control under the default mapping; a machine that refuses it has none."""
        mapping = default_mapping(self.machine.topology)
        for program in control_programs(self.machine):
            for result in run_here(self.machine, [Batch(program, (mapping,))]):
                if isinstance(result, Refusal):
                    log.warning(printable(f"{program.name} left out: {result.reason}"))
                else:
                    journal.introduce(program)
                    journal.finished(result.measurement, result.took_s)

    def _sources(self) -> tuple[Source, ...]:
        kind, own = kind_of(self._header()), version()
        sources = tuple(source for source in shard_journals(self.folder) if source.kind == kind)
        for source in sources:
            if source.version != own:
                raise InvalidInputError(
                    f"{source.path} was made by numapredict {source.version}, this is {own}: their programs and figures"
                    " may differ; use one version, or name another folder"
                )
        return sources

    def _record(self) -> Record:
        return joined(self._sources())
