"""Run a program under a mapping: in this process's place, or as a child that this process reports on at the end.

What reports is loaded only for that: it takes longer than the start of most programs.
"""

from numapredict.collect.host.facts.allocation_text import restriction_lines
from numapredict.collect.host.host import host_topology
from numapredict.collect.placing.affinity import keep_to
from numapredict.collect.placing.child import become
from numapredict.collect.placing.mapping_here import placement_here, ranks_here
from numapredict.collect.placing.process import cannot_start
from numapredict.collect.placing.run_notes import RunNotes, note_all
from numapredict.collect.placing.run_options import RunOptions
from numapredict.collect.placing.start import start_of
from numapredict.collect.placing.start_text import start_in_words
from numapredict.collect.program import program_as_typed
from numapredict.native.errors import UsageError


def run_placed(label: str | None, command: tuple[str, ...], options: RunOptions) -> int:
    """Run the program, placed, and return its exit code, or end by its signal; with nothing to report it is exec'ed.

    Without a label the mapping is that of the plan. Raises UnrunnableProgramError, InvalidMappingError,
    InvalidInputError and the errors of run_file before the program starts.
    """
    if options.stays:
        from numapredict.collect.placing.reported_run import run_reported

        return run_reported(label, command, options)
    if label is None:
        raise UsageError("name a --mapping, or a --plan, which has one")
    notes = RunNotes(ranks_here())
    topology = host_topology()
    note_all(restriction_lines(topology), notes.note)
    placement, _ = placement_here(topology, label, notes)
    start = start_of(program_as_typed(command), placement, near=True)
    note_all(start_in_words(start, placement, options), notes.note)
    try:
        keep_to(start.cpus)
        become(start.command, start.environment)
    except (OSError, ValueError) as error:
        raise cannot_start(command[0], error) from error
