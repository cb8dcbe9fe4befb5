"""The start of a placed run in words: what of the mapping it does not apply, and what it leaves out."""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.index_list import index_list
from numapredict.collect.placement import Placement
from numapredict.collect.placing.balancing import balancing_is_on
from numapredict.collect.placing.claims import claimed_pus, claims_obstacle
from numapredict.collect.placing.command import applied
from numapredict.collect.placing.policies import page_queries_refused
from numapredict.collect.placing.run_options import RunOptions
from numapredict.collect.placing.start import Start
from numapredict.collect.terminal.printable import counted


def start_in_words(start: Start, placement: Placement, options: RunOptions) -> Iterator[str]:
    """Return the lines to log before the program starts: none where the mapping is applied exactly."""
    if start.overridden:
        yield f"the mapping overrides your environment: {start.overridden}"
    if start.obstacle:
        yield (
            f"the preload library cannot place {Path(start.command[len(start.numactl)]).name}: {start.obstacle}; its"
            " threads are placed by OMP_PLACES" + (", its pages by numactl" if start.numactl else "")
        )
        wanted = {"--verify": options.verify, "--regions": options.regions, "--profile": options.profile}
        read = {"--use-profile": options.use_profile, "--plan": options.plan}
        lost = [name for name, value in {**wanted, **read}.items() if value]
        if options.json is not None:
            lost.append("what -o says of threads, pages and regions")
        if lost:
            yield f"left out without the library: {', '.join(lost)}"
    yield from start.doubts
    if start.way == "library" and (obstacle := claims_obstacle()):
        yield (
            f"placed runs here do not know which PUs others have: cannot use {obstacle}; mend that, or name another"
            " folder in NUMAPREDICT_LOCKS"
        )
    elif start.way == "library" and (taken := claimed_pus(placement.pus)):
        yield (
            f"another placed run has {counted(len(taken), 'PU')} of this mapping now ({index_list(taken)}): teams that"
            " find too few free ones are left unbound; wait for its end, or name a mapping of other PUs"
        )
    if (options.verify or options.json is not None) and (unseen := page_queries_refused()):
        yield (
            f"this system does not show where pages are ({unseen}): only threads are verified; run outside the"
            " container or give it the capability SYS_NICE"
        )
    unguarded = start.way == "numactl" and applied(placement).mapping.page_policy == "first-touch"
    if unguarded and options.balancing and len(placement.topology.memory_nodes) > 1 and balancing_is_on():
        yield "automatic NUMA balancing is on and may move its pages; --no-numa-balancing switches it off for the run"
