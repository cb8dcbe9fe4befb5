"""Programs that set their own number of threads: which mappings compete for them, and what is known about those.

Such a program runs its own number of threads under every mapping. Only mappings with that number compete, and they are
judged by a separate model: it is learned from the measurements of the model's dataset with as many threads, and has its
own default, probes and gain model, which removes every effect of the number of threads.
If some regions follow OMP_NUM_THREADS, or no number holds half of the region time, all mappings compete.
"""

import math
from collections.abc import Iterable

import msgspec

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import Mapping, applicable
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.teams import Team, processors_here, teams_of
from numapredict.collect.space import canonical_form, placement_if_any
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.training_dataset import dataset_of

_FEW = 0.1  # of the region time: at most this may follow OMP_NUM_THREADS in a program with its own number
_LEAST_SHARE = 0.5  # of the region time, for a number of threads to be the program's


class OwnThreads(msgspec.Struct, frozen=True, kw_only=True):
    """The number of threads that a program sets itself, in ``share`` of its region time; ``others`` in the rest of it.

    ``competing`` is the number of threads of the competing mappings, ``learned_from`` that of the measurements their
    gains are learned from; both are ``threads`` if the machine and the model's dataset have it. ``text`` says this.
    """

    threads: int
    share: float
    others: tuple[int, ...]
    competing: int
    learned_from: int
    text: str


def own_team(measurement: Measurement) -> Team | None:
    """Return the team whose number of threads the program sets itself, None if it follows the mapping.

    It has at least half of the region time, and regions with the mapping's number of threads have next to none.
    """
    teams, mapping = teams_of(measurement), measurement.mapping
    if not teams or not isinstance(mapping, Mapping) or teams[0].share < _LEAST_SHARE:
        return None
    following = sum(team.share for team in teams if team.threads == mapping.threads)
    return None if following > _FEW else teams[0]


def depends_in_words(own: OwnThreads, showing: Measurement, measured: Iterable[Measurement]) -> str:
    """Return a sentence if the program's number of threads depends on the requested one, else an empty text.

    ``showing`` showed the number; ``measured`` are of mappings with as many threads, where it must be the same.
    """
    known = {own.threads, *own.others}
    for m in measured:
        if not isinstance(m.mapping, Mapping) or not isinstance(showing.mapping, Mapping):
            continue
        new = [team for team in teams_of(m) if team.threads not in known | {m.mapping.threads}]
        if sum(team.share for team in new) > _FEW:
            return (
                f"its number of threads depends on OMP_NUM_THREADS: {own.threads} of {showing.mapping.threads}, "
                f"{new[0].threads} of {m.mapping.threads}"
            )
    return ""


def model_of_threads(model: Model, measurement: Measurement, topology: Topology) -> tuple[Model, OwnThreads]:
    """Return the model of the competing mappings of a program that sets its own number of threads, as measured.

    Raises InsufficientDataError if the model's dataset is missing or has too little to learn from.
    """
    team = own_team(measurement)
    if team is None:
        raise ValueError("the program runs as many threads as it is asked to")
    others = tuple(each.threads for each in teams_of(measurement)[1:])
    dataset = dataset_of(model, topology)
    counts = {m.mapping.threads for m in dataset.measurements if isinstance(m.mapping, Mapping)}
    competing = min(team.threads, topology.core_count)
    taught = min(counts, key=lambda n: (abs(math.log2(n / competing)), n))
    part = _of_threads(dataset, taught, competing, topology)
    own = OwnThreads(
        threads=team.threads,
        share=team.share,
        others=others,
        competing=competing,
        learned_from=taught,
        text=_in_words(team, others, competing, taught, measurement.modelled),
    )
    default = _default(applicable(model.default), part, topology)
    options = msgspec.structs.replace(model.options, default=default, n_clusters=None, probe_candidates=())
    from numapredict.predictor.learning.train import (
        train,  # SciPy's clusters take time to load, and most answers do not need them
    )

    try:
        return train(part, options), own
    except (InsufficientDataError, ValueError) as error:
        raise InsufficientDataError(
            f"the dataset of {model.machine} has too few mappings of {taught} threads to learn from ({error})"
        ) from error


def _of_threads(dataset: Dataset, taught: int, competing: int, topology: Topology) -> Dataset:
    """Return measurements of ``taught`` threads relabelled as ``competing`` threads, where such mappings exist."""
    kept: dict[tuple[str, Mapping], Measurement] = {}
    for m in dataset.measurements:
        if not isinstance(m.mapping, Mapping) or m.mapping.threads != taught:
            continue
        mapping = m.mapping.replaced(threads=competing)
        placement = placement_if_any(mapping, topology)
        if placement is not None and (taught == competing or canonical_form(placement) == mapping):
            kept[m.program, mapping] = msgspec.structs.replace(m, mapping=mapping)
    return msgspec.structs.replace(dataset, measurements=tuple(kept.values()))


def _default(default: Mapping, part: Dataset, topology: Topology) -> Mapping:
    """Return the default with that number of threads: the same policies, on as many nodes as possible."""
    mappings = {m.mapping for m in part.measurements if isinstance(m.mapping, Mapping)}
    for nodes in range(default.thread_nodes, 0, -1):
        for threads in {mapping.threads for mapping in mappings}:
            wanted = default.replaced(threads=threads, thread_nodes=nodes, page_nodes=nodes)
            placement = placement_if_any(wanted, topology)
            if placement is not None and (found := canonical_form(placement)) in mappings:
                return found
    raise InsufficientDataError(f"the dataset of {part.machine} has no default mapping of so many threads")


def _in_words(team: Team, others: tuple[int, ...], competing: int, taught: int, modelled: bool) -> str:
    """Return a sentence on the program's threads and what the advice rests on."""
    threads = f"{team.threads} thread{'s' * (team.threads != 1)}"
    text = f"the program sets its own number of threads: {threads}, whatever OMP_NUM_THREADS says"
    if others:
        text += f", in {team.share:.0%} of its region time (and {', '.join(map(str, others))} in other regions)"
    if competing != team.threads:
        text += f"; this machine has no mapping of {team.threads}: those of all its {competing} cores are considered"
    else:
        text += f"; only mappings of {threads} are considered"
    if taught != competing:
        text += f", judged by what the model's programs did with {taught}"
    if modelled and team.threads == processors_here():
        text += (
            "; this computer has as many processors: a program that counts them in its affinity mask would run as many "
            "threads as the machine has"
        )
    return text
