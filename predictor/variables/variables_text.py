"""The answer on a program's variables in words, for a person to read."""

import shlex
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import PurePath

from numapredict.collect.source.place import Place
from numapredict.collect.source.short_names import short_name
from numapredict.collect.terminal.printable import counted, name_cell, printable
from numapredict.predictor.variables.memory_accesses import MemoryAccesses
from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.place_names import place_names
from numapredict.predictor.variables.requests import Requests, requests_of
from numapredict.predictor.variables.time_cost import WORTH_TIME, TimeCost
from numapredict.predictor.variables.traffic_text import changes, traffic_in_words
from numapredict.predictor.variables.variable import Variable, VariablePlan, Variables

_WIDTH = 100
_MOST_SHOWN = 8
_MOST_TIMED_REGIONS = 3
_REMOTE = "other nodes"
_TIME = "time"

Names = Callable[[Place], str]


def variables_in_words(answer: Variables, *, time_asked: bool = False) -> str:
    """Return the answer for a person to read; ``time_asked``: with `--time`."""
    subject = " ".join(answer.command) or PurePath(answer.profile or "").name
    modelled = " (modelled)" if answer.modelled else ""
    where = f", on {name_cell(answer.machine)} as {answer.mapping}{modelled}" if answer.machine else ""
    lines = [f"{printable(subject)} with {counted(answer.threads, 'thread')}{where}", ""]
    lines += [*_table(answer.variables[:_MOST_SHOWN]), ""]
    if answer.requests is not None:
        lines += [f"  all touches: {requests_in_words(answer.requests)}", ""]
    if answer.traffic is not None and changes(answer.traffic):
        lines += [*(f"  {line}" for line in traffic_in_words(answer.traffic)), ""]
    if answer.accesses is not None:
        sampled = f"accesses, sampled by the processor: {accesses_in_words(answer.accesses, answer.lpi_worth)}"
        lines += [textwrap.fill(sampled, _WIDTH, initial_indent="  ", subsequent_indent="    "), ""]
    left = answer.variables[_MOST_SHOWN:]
    if left:
        lines += [f"  and {len(left)} more, with {_percent(sum(one.touch_share for one in left))} of the touches", ""]
    names = place_names(answer)
    lines += _regions(answer, names)
    worth = [one for one in answer.variables if one.remedy.action != "nothing"]
    for one in worth[:_MOST_SHOWN]:
        lines += [*_facts(one, names), ""]
    if in_time := _not_worth_in_time(answer):
        lines += [*in_time, ""]
    others = [one for one in answer.variables if one not in worth and one.time is None]
    lines += [_not_worth(others, answer.worth, len(others) < len(answer.variables)), ""]
    if answer.plan is not None:
        lines += [*_plan(answer.plan, answer.command), ""]
    said = (*_severity(answer, time_asked), *answer.notes)
    lines += [textwrap.fill(f"- {line}", _WIDTH, initial_indent="  ", subsequent_indent="    ") for line in said]
    return "\n".join(lines)


def _severity(answer: Variables, time_asked: bool) -> list[str]:
    """Return what the variables are judged by."""
    sampled = f"{answer.touches} were sampled in {answer.region_time_s:.2f} s of parallel regions"
    if answer.severity == "share of touches":
        could_say = answer.machine is not None and not answer.profile and not time_asked
        time = ": what time it takes off, `--time` says" if could_say else ""
        return [
            f"severity is by share of touches: {sampled}; a touch is one visit to a page, neither an access nor a "
            f"time{time}"
        ]
    what, how = "the run's time", f"measured in {_rounds(answer)} rounds of runs in turn"
    sure = "if each round gains, and a further one should in 19 of 20 cases; ranges hold 9 of 10 further rounds"
    if answer.severity == "modelled time":
        what, how = "time in parallel regions", "modelled"
        sure = "and ranges are those of four in five speedups that were modelled for a timed guest"
    return [
        f"of the variables with the most touches from elsewhere, severity is by {what}, {how}, with pages as they are "
        f"and where they should be: {WORTH_TIME:.0%} of it is worth a change, {sure}; the others are judged by "
        f"share of touches: {sampled}"
    ]


def _rounds(answer: Variables) -> int:
    return max((one.time.rounds for one in answer.variables if one.time is not None), default=0)


def _not_worth_in_time(answer: Variables) -> list[str]:
    """Return the sentences on what all remedies together gain, and on variables whose remedy takes no time off."""
    lines = []
    several = sum(one.time is not None for one in answer.variables) > 1
    if answer.time is not None and several:
        lines.append(f"all timed variables together should save {answer.time.in_words}")
    without = [one for one in answer.variables if one.time is not None and not one.time.is_worth]
    lines += [
        f"not worth fixing: {name_of(one)}, with {_percent(one.cost)} of all touches to it from elsewhere: placing it "
        f"better saves {one.time.in_words}{_doubt(one.time)}"
        for one in without
        if one.time is not None
    ]
    return [textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="  ") for line in lines]


def _doubt(time: TimeCost) -> str:
    return ", which is not sure" if time.saved > 0 and not time.is_sure else ""


def _not_worth(others: list[Variable], worth: float, is_rest: bool) -> str:
    """Return the sentence on the variables that cost less than is worth a change."""
    if not others:
        return "  nothing else was sampled"
    limit = f"each causes less than {worth:.0%} of all touches from elsewhere"
    if not is_rest:
        return f"  nothing is worth fixing: {limit}"
    counts = Counter(map(name_of, others))
    names = ", ".join(
        f"{name} ({count} of them)" if count > 1 else name for name, count in [*counts.items()][:_MOST_SHOWN]
    )
    names += ", ..." if len(counts) > _MOST_SHOWN else ""
    return textwrap.fill(f"not worth fixing: {names}; {limit}", _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _plan(plan: VariablePlan, command: tuple[str, ...]) -> list[str]:
    """Return what a plan places, and the command that applies it."""
    placed = "; ".join(
        f"{name_cell(one.name)} {one.how}, {counted(one.pages, 'page')}{_gain(one.speedup)}" for one in plan.variables
    )
    program = shlex.join(command) if command else "./app"
    return [
        textwrap.fill(
            f"plan {plan.path}: {placed}; all else by first touch{_gain(plan.speedup)}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
        ),
        f"  numapredict run --mapping {plan.mapping} --plan {shlex.quote(plan.path)} -- {program}",
    ]


def _gain(speedup: float | None) -> str:
    return "" if speedup is None else f", regions {speedup:.2f}x as fast (modelled)"


def _regions(answer: Variables, names: Names) -> list[str]:
    """Return the table of the regions that touch most from elsewhere."""
    total = sum(one.cost for one in answer.regions)
    shown = [one for one in answer.regions if total and one.cost >= answer.worth * total]
    if not shown:
        return []
    whose = "other nodes" if answer.machine else "other threads"
    rows = [(_percent(one.cost / total), names(one.place) if one.place else "not known") for one in shown]
    lines = [f"  touches from {whose}, by region"]
    return [*lines, *(f"    {share:>4}  {text}" for share, text in rows[:_MOST_SHOWN]), ""]


def _table(variables: tuple[Variable, ...]) -> list[str]:
    rows = [("variable", "size", "touches", "other threads", _REMOTE, _TIME, "how threads use it")]
    rows += [
        (
            name_of(one),
            _size(one.size_bytes),
            _percent(one.touch_share),
            _share(one.other_threads_share),
            _share(one.remote_share),
            "-" if one.time is None else _percent(one.time.saved),
            pattern_in_words(one.pattern),
        )
        for one in variables
    ]
    unknown = {_REMOTE} if all(one.remote_share is None for one in variables) else set()
    unknown |= {_TIME} if all(one.time is None for one in variables) else set()
    columns = [column for column in zip(*rows, strict=True) if column[0] not in unknown]
    widths = [max(map(len, column)) for column in columns]
    lines = (
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    )
    return [f"  {line.rstrip()}" for line in lines]


def _facts(one: Variable, names: Names) -> list[str]:
    """Return the lines on one variable that is worth fixing."""
    lines = [f"  {name_of(one)}, {_blocks(one)}{_size(one.size_bytes)}"]
    if one.allocated is not None:
        what = {"static": "declared", "file": "mapped"}.get(one.kind, "allocated")
        lines.append(_fact(what, f"{names(one.allocated)}{_by_call(one, names)}"))
    lines.append(_fact("touched first", _first(one, names)))
    read = ", only read" if one.only_read else ""
    lines.append(_fact("used", f"{pattern_in_words(one.pattern)}{read}"))
    whose = "from another node" if one.remote_share is not None else "by other threads than touched it first"
    if one.cost:
        lines.append(_fact("costs", f"{_percent(one.cost)} of all touches are to it, {whose}"))
    if one.time is not None:
        lines.append(_fact("should save", one.time.in_words))
        lines += [_fact("", one.time.regions_in_words)] if one.time.run is not None else []
        lines += [
            _fact("", f"{region.share:.0%} of that of {names(region.place) if region.place else 'a region not known'}")
            for region in one.time.regions[:_MOST_TIMED_REGIONS]
        ]
    if one.requests is not None:
        lines.append(_fact("served", requests_in_words(one.requests)))
    if one.accesses is not None:
        lines.append(_fact("accesses", f"{requests_in_words(one.accesses.requests)}{_latency(one.accesses)}"))
    lines.append(_fact("what would help", one.remedy.text))
    if one.traffic is not None and changes(one.traffic):
        helped = requests_of(one.traffic.nodes, one.traffic.with_remedy)
        lines.append(_fact("with that", requests_in_words(helped)))
    return lines


def _blocks(one: Variable) -> str:
    """Return how many allocations make a variable, where they are several, and how large each is."""
    if one.allocations < 2 or one.kind == "small allocations":  # those are parts of the heap
        return ""
    if one.kind not in {"allocated", "mapped"}:
        return f"{counted(one.allocations, 'allocation')}, "
    each = _size(one.block_bytes or one.size_bytes / one.allocations)
    return f"{one.allocations:,} blocks of {each}{'' if one.block_bytes else ' on average'}, "


def _by_call(one: Variable, names: Names) -> str:
    """Return the call that allocates each block, where the variable's line is one that leads to it."""
    inner = one.allocation_stack[0] if one.allocation_stack and one.allocations > 1 else None
    if inner is None or one.allocated is None or inner.offset == one.allocated.offset or inner.frame.of_the_system:
        return ""
    return f", by {names(inner)}"


def accesses_in_words(accesses: MemoryAccesses, worth: float) -> str:
    """Return what the processor sampled of the whole program, and what HPCToolkit would say of it, in a line."""
    said = f"{requests_in_words(accesses.requests)}, of {accesses.samples} samples{_latency(accesses)}"
    if accesses.lpi_numa is not None:
        compared = "above" if accesses.lpi_numa > worth else "not above"
        said += f"; {compared} {worth:g}, from which on HPCToolkit calls placement worth a change"
    return said


def _latency(accesses: MemoryAccesses) -> str:
    remote = f"; remote ones take {accesses.remote_cycles:.0f} cycles" if accesses.remote_cycles is not None else ""
    lpi = f"; lpi_NUMA {accesses.lpi_numa:.3f} cycles an instruction" if accesses.lpi_numa is not None else ""
    return remote + lpi


def requests_in_words(requests: Requests) -> str:
    """Return how near the touches are to what serves them, and which node serves most, in a line."""
    busiest = max(range(len(requests.nodes)), key=lambda at: requests.by_node[at])
    total = requests.local + requests.remote
    share = requests.by_node[busiest] / total if total else 0.0
    return (
        f"{requests.local:.0f} local, {requests.remote:.0f} remote; node {requests.nodes[busiest]} serves {share:.0%}, "
        f"{requests.imbalance:.1f} times an even part"
    )


def pattern_in_words(pattern: Pattern) -> str:
    """Return how threads share a variable, in a few words."""
    match pattern.kind:
        case "one thread":
            return f"by thread {pattern.thread} alone"
        case "blocked":
            each = ", in each allocation" if pattern.each_allocation else ""
            return f"in blocks by {pattern.threads} threads{each}"
        case "strided":
            if pattern.in_blocks:
                return f"in blocks by {pattern.threads} threads, {pattern.turns} times over"
            return f"in turn by {pattern.threads} threads, again every {pattern.period_pages:,.0f} pages"
        case "irregular":
            return f"in parts by {pattern.threads} threads, in no order"
        case "shared":
            return f"everywhere by {pattern.threads} threads"
        case "unknown":
            return "too few samples"


def _first(one: Variable, names: Names) -> str:
    place = one.first_touch
    if place is None:
        return "not known; thread 0 is assumed"
    where = names(place) + ", in the C library" * place.in_c_library
    match one.first_manner:
        case "supposed":
            return f"{where}; thread 0 alone is assumed"
        case "one thread":
            return f"{where}, by thread {one.first_thread or 0}"
        case "in turn":
            return f"{where}, by several threads in turn" + (
                f": schedule({one.first_schedule})" * bool(one.first_schedule)
            )
        case "equal blocks":
            return f"{where}, in blocks by several threads"


def name_of(one: Variable) -> str:
    """Return what a variable is called."""
    if one.kind == "small allocations":
        return "small allocations"
    if one.kind == "file":
        return f"file {name_cell(one.name or '?')}"
    if one.through:
        return f"{one.name or 'memory'} from {name_cell(short_name(one.through))}"
    if one.name is not None:
        return name_cell(one.name)
    return f"memory of {one.allocated.text}" if one.allocated is not None else "memory"


def _size(size_bytes: float) -> str:
    if size_bytes >= 2**30:
        return f"{size_bytes / 2**30:.3g} GiB"
    return f"{size_bytes / 2**20:.3g} MiB" if size_bytes >= 2**20 else f"{size_bytes / 2**10:.3g} KiB"


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _share(share: float | None) -> str:
    return "?" if share is None else _percent(share)


def _fact(what: str, text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=f"    {what:<16}  ", subsequent_indent=" " * 22)
