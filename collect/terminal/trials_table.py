"""The table of runs that are compared, while they are made: by rich, and pure."""

from rich.table import Table
from rich.text import Text

from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import printable
from numapredict.collect.terminal.progress import Trials


def trials_table(trials: Trials, now_s: float) -> Table:
    """Return what came of each run, the best marked, and of the one under way how long it has taken."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")
    table.add_column(overflow="fold")
    for at, (number, what, outcome) in enumerate(trials.ended):
        best = at == trials.best and len(trials.ended) > 1
        style, remark = ("green", ", the best so far") if best else ("", "")
        table.add_row(number, Text(printable(what), style), Text(printable(outcome) + remark, style))
    if trials.now:
        running = f"running for {in_words(now_s - trials.began_s)}"
        if trials.most_s is not None:
            running += f" of at most {in_words(trials.most_s)}"
        words = "; ".join(filter(None, (running, trials.expected)))
        following = f"run {trials.runs + 1} of {trials.limit}"
        table.add_row(following, Text(printable(trials.now), "bold"), Text(words, "dim"))
    return table
