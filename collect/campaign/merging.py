"""Read what campaigns left in folders, and write it as one dataset, or one a kind of machine."""

import logging
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.campaign.campaign import record_in
from numapredict.collect.campaign.control import OutOfLine
from numapredict.collect.campaign.merge import Merged, merged
from numapredict.collect.campaign.request import CampaignSummary, summary_in_words, summary_of
from numapredict.collect.campaign.shard_journals import Source, shard_journals
from numapredict.collect.data.dataset import DESCRIPTION_FILE, TABLE_FILE, write_dataset
from numapredict.collect.data.journal import JOURNAL_FILE
from numapredict.collect.data.machine_kind import difference_in_words, kind_of
from numapredict.collect.terminal.printable import counted, name_cell
from numapredict.native.errors import InvalidInputError

_MOST_NAMED = 5

log = logging.getLogger(__name__)


class MergeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What `collect merge` wrote and what that lacks, as `--json` prints it."""

    datasets: tuple[CampaignSummary, ...]
    left_out: tuple[OutOfLine, ...]
    missing_shards: tuple[str, ...]
    unfinished_programs: tuple[str, ...]


def merge_folders(folders: Sequence[Path], into: Path, *, fleet: bool, keep_nodes: bool) -> MergeSummary:
    """Merge what is in folders into one, and log what it lacks; with ``fleet`` into a folder in it a kind of machine.

    Nothing is lost: a dataset that is there already is replaced only by one that has all its runs. Raises
    InvalidInputError, and UnwritableError.
    """
    sources = [source for folder in dict.fromkeys(map(Path.resolve, folders)) for source in _sources(folder)]
    found = [each for each in merged(sources, fleet=fleet, keep_nodes=keep_nodes) if each.dataset.measurements]
    if not found:
        raise InvalidInputError(f"{', '.join(map(str, folders))}: no run has finished, so there is nothing to merge")
    targets = [into / _name(each) if fleet else into for each in found]
    for each, target in zip(found, targets, strict=True):
        _check_target(each, target)
    for each, target in zip(found, targets, strict=True):
        _warn(each)
        write_dataset(each.dataset, target)
    return MergeSummary(
        datasets=tuple(summary_of(each.dataset, target) for each, target in zip(found, targets, strict=True)),
        left_out=tuple(node for each in found for node in each.left_out),
        missing_shards=tuple(str(shard) for each in found for shard in each.missing),
        unfinished_programs=tuple(name for each in found for name, _ in each.unfinished),
    )


def merge_in_words(summary: MergeSummary) -> str:
    """Return a line for each dataset that was written."""
    return "\n".join(map(summary_in_words, summary.datasets))


def _sources(folder: Path) -> tuple[Source, ...]:
    """Return what a folder has: journals of shards, the journal of a campaign, or else its dataset."""
    shards = shard_journals(folder)
    plain: tuple[Source, ...] = ()
    if (folder / JOURNAL_FILE).exists() or not shards:
        record = record_in(folder)
        if record.header is not None:
            file = JOURNAL_FILE if (folder / JOURNAL_FILE).exists() else DESCRIPTION_FILE
            plain = (Source(folder / file, record.header, record),)
    if not shards and not plain:
        raise InvalidInputError(f"{folder} holds no journal and no dataset; name the folder of a campaign")
    return shards + plain


def _check_target(new: Merged, target: Path) -> None:
    """Refuse a folder whose runs would be lost, or come back from the journal of a campaign."""
    if (target / JOURNAL_FILE).exists():
        raise InvalidInputError(
            f"{target} holds the journal of a campaign, which would write its own dataset there; name another folder"
        )
    if not any((target / file).exists() for file in (DESCRIPTION_FILE, TABLE_FILE)):
        return
    old = record_in(target)
    if old.header is not None and kind_of(old.header) != new.kind:
        difference = difference_in_words(kind_of(old.header), new.kind)
        raise InvalidInputError(f"{target} holds a dataset of another machine ({difference}); name another folder")
    have = {(m.program, m.mapping) for m in new.dataset.measurements}
    lost = [m for m in old.measurements if (m.program, m.mapping) not in have]
    if lost:
        raise InvalidInputError(
            f"{target} holds {counted(len(lost), 'run')} that would be lost, the first of {lost[0].program} under"
            f" {lost[0].mapping.label}: merge {target} too, or name another folder"
        )


def _warn(new: Merged) -> None:
    for out in new.left_out:
        log.warning(
            f"{out}; left out. To measure its programs on other nodes, move *.{out.node}.*.jsonl to another folder and"
            f" submit the campaign again with --exclude={out.node}; --keep-nodes keeps them"
        )
    if new.missing:
        named = ", ".join(str(shard.number) for shard in new.missing[:_MOST_NAMED])
        more = f" and {len(new.missing) - _MOST_NAMED} more" if len(new.missing) > _MOST_NAMED else ""
        log.warning(f"of {new.missing[0].count} shards nothing is here of {named}{more}: submit the campaign again")
    if new.unfinished:
        named = ", ".join(f"{name_cell(name)} {lacks}" for name, lacks in new.unfinished[:_MOST_NAMED])
        more = f" and {len(new.unfinished) - _MOST_NAMED} more programs" if len(new.unfinished) > _MOST_NAMED else ""
        log.warning(
            f"runs that others have are missing ({named}{more}): if the campaign has ended, submit it again; finished"
            " runs are kept"
        )


def _name(each: Merged) -> str:
    """Return the name of a dataset's folder among those of a fleet."""
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', each.kind.machine).strip('.-')[:60] or 'machine'}-{each.kind.fingerprint}"
