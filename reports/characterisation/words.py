"""A characterisation in words: tables of times, what each choice changes, and where the accesses go."""

from collections.abc import Iterable, Sequence

from numapredict.collect.campaign.characterisation.result import Characterisation, Place, Run
from numapredict.collect.terminal.printable import command_line, counted
from numapredict.reports.characterisation import look
from numapredict.reports.drawable import drawable

NO_COUNTERS = "no memory counters are read here, so accesses and bandwidth per node are not known"
_SLOWEST_SHOWN = 3


def characterisation_in_words(found: Characterisation) -> str:
    """Return a characterisation as text."""
    unit = look.unit_for(run.time_s for run in found.runs)
    command = command_line(found.command)
    head = f"{command} on {drawable(found.machine, most=None)} ({'modelled' if found.modelled else 'measured'}): "
    blocks = [[head + f"{look.clock_in_words(found)} in {unit.name}"]]
    if found.exit_code:
        blocks[0].append(f"it ends with exit code {found.exit_code}, though its parallel regions ran")
    blocks += _tables(found, unit)
    blocks += [_policies(found, unit), _one_node(found, unit), _extremes(found, unit), _effects(found)]
    blocks += [_accesses(found) if found.counted else [NO_COUNTERS, *_sampled(found)], _missing(found)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _tables(found: Characterisation, unit: look.Unit) -> Iterable[list[str]]:
    shown = set()
    for table in found.tables:
        if table.mappings in shown:
            continue
        shown.add(table.mappings)
        lines = [look.table_in_words(table)]
        lines.append(_row("threads", [counted(nodes, "node") for nodes in table.thread_nodes]))
        for threads, row, labels in zip(table.threads, table.times_s, table.mappings, strict=True):
            cells = [_cell(time_s, label, unit) for time_s, label in zip(row, labels, strict=True)]
            lines.append(_row(str(threads), cells))
        yield lines


def _policies(found: Characterisation, unit: look.Unit) -> list[str]:
    if len({place.mapping for place in found.whole}) < 2:
        return []
    policies = list(dict.fromkeys(place.thread_policy for place in found.whole))
    rows: dict[str, dict[str, Place]] = {}
    for place in found.whole:
        rows.setdefault(look.page_name(place), {})[place.thread_policy] = place
    lines = [f"{look.size_in_words(found.whole[0])}, by page policy"]
    lines.append(_row("", policies))
    for name, row in rows.items():
        cells = [_cell(row[p].time_s, row[p].mapping, unit) if p in row else "" for p in policies]
        lines.append(_row(name, cells))
    return lines


def _one_node(found: Characterisation, unit: look.Unit) -> list[str]:
    if not found.one_node:
        return []
    lines = [f"{look.size_in_words(found.one_node[0])}, by page policy"]
    return lines + [_row(look.page_name(p), [_cell(p.time_s, p.mapping, unit)]) for p in found.one_node]


def _extremes(found: Characterisation, unit: look.Unit) -> list[str]:
    """Return the fastest mapping, the default and the slowest ones."""
    timed = [run for run in found.runs if run.time_s is not None]
    lines = [_extreme("fastest", timed[0], unit)] if timed else []
    if found.default and (default := found.run(found.default)) is not None:
        lines.append(_extreme("default", default, unit))
    return lines + [_extreme("slowest", run, unit) for run in timed[:0:-1][:_SLOWEST_SHOWN]]


def _extreme(what: str, run: Run, unit: look.Unit) -> str:
    time = f"{look.figure_text(unit.of(run.time_s or 0.0))} {unit.name}"
    slower = "" if run.slowdown == 1 else f"{look.figure_text(run.slowdown or 0.0)}x the fastest"
    return f"{what}  {run.mapping:36}{time:>12}  {slower}".rstrip()


def _effects(found: Characterisation) -> list[str]:
    if not found.effects:
        return []
    lines = ["the most that a choice alone changes"]
    for effect in found.effects:
        ratio = f"{look.figure_text(effect.ratio)}x"
        lines.append(f"  {effect.choice:14}{ratio:>7}  {effect.faster} against {effect.slower}")
    return lines


def _accesses(found: Characterisation) -> list[str]:
    """Return where the default's and the fastest mapping's accesses go, by node."""
    lines = []
    for label in dict.fromkeys(label for label in (found.default, found.fastest) if label):
        run = found.run(label)
        if run is None or not run.nodes:
            continue
        share = "none" if run.local_share is None else f"{run.local_share:.0%} local"
        lines.append(f"{label}: accesses in millions of cache lines, {share}; bandwidth in GB/s")
        lines.append(_row("", ["local", "remote", "local GB/s", "remote GB/s"]))
        for number, node in enumerate(run.nodes):
            figures = (
                node.local_accesses / 1e6,
                node.remote_accesses / 1e6,
                node.local_bandwidth_GBps,
                node.remote_bandwidth_GBps,
            )
            lines.append(_row(f"node {number}", [look.figure_text(figure) for figure in figures]))
    return lines


def _sampled(found: Characterisation) -> list[str]:
    """Return the share of local accesses that was sampled of the default's and the fastest mapping."""
    runs = [found.run(label) for label in dict.fromkeys((found.default, found.fastest)) if label]
    return [
        f"{run.mapping}: {run.local_share:.0%} of sampled accesses are local"
        for run in runs
        if run is not None and run.local_share is not None
    ]


def _missing(found: Characterisation) -> list[str]:
    """Return the failed runs and the mappings that the machine cannot apply."""
    lines = [f"failed: {run.mapping} ({run.message or run.status})" for run in found.runs if run.status != "ok"]
    if found.not_possible:
        lines.append(f"not possible here: {', '.join(found.not_possible)}")
    return lines


def _cell(time_s: float | None, label: str | None, unit: look.Unit) -> str:
    """Return a time; a dash if there is none, an empty text if the threads do not fit."""
    if label is None:
        return ""
    return "-" if time_s is None else look.figure_text(unit.of(time_s))


def _row(name: str, cells: Sequence[str]) -> str:
    return f"  {name:14}" + "".join(f"{cell:>13}" for cell in cells).rstrip()
