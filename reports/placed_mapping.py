"""The figure of a mapping on a topology: which thread runs on which core, and which pages are on which node."""

import textwrap
from collections import Counter
from typing import assert_never

import msgspec
from matplotlib.figure import Figure

from numapredict.collect.page_policy import FACTS, PROFILED
from numapredict.collect.placement import Placement
from numapredict.collect.placing.page_plan import plan_of
from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.terminal.printable import counted
from numapredict.native.errors import InvalidInputError, UsageError
from numapredict.predictor.advising.mapping_text import mapping_in_words
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.node_map import NodeBox, NodeMap, boxes_of

LEAST_WIDTH = 6.0  # inches
CELLS = "Each cell is a core: the number of its thread over its PU; each node has a colour; grey cores are idle."
SHARED = (
    "Each cell is a core: the numbers of its threads over its first PU; each node has a colour; grey cores are idle."
)
FROM_POLICY = "The shares of the pages follow from the page policy."


class PlacedMappingData(msgspec.Struct, frozen=True, kw_only=True):
    """What the figure shows; ``note`` says where the shares of the pages come from."""

    title: str
    about: str
    boxes: tuple[NodeBox, ...]
    note: str

    @property
    def cells(self) -> str:
        """Return what the cells mean."""
        frames = " Each frame is an L3 cache." if any(box.l3s for box in self.boxes) else ""
        return (SHARED if any(cell.more for box in self.boxes for cell in box.cells) else CELLS) + frames


def threads_by_core(placement: Placement) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the threads on each core that has any, by the core's first PU."""
    first = {pu: core.pus[0] for node in placement.topology.nodes for core in node.cores for pu in core.pus}
    found: dict[int, tuple[int, ...]] = {}
    for number, pu in enumerate(placement.pus):
        found[first[pu]] = (*found.get(first[pu], ()), number)
    return found


def placed_mapping_data(placement: Placement, profile: Profile | None = None) -> PlacedMappingData:
    """Return the threads' cores, and each node's share of the pages if the policy or a profile determines it.

    Raises UsageError if the policy needs no profile, InvalidInputError for one without samples.
    """
    mapping, topology = placement.mapping, placement.topology
    threads = threads_by_core(placement)
    shares, words, note = _by_policy(placement) if profile is None else _by_profile(placement, profile)
    boxes = []
    for index, box in enumerate(boxes_of(topology)):
        cells = tuple(
            msgspec.structs.replace(cell, thread=threads[cell.pu][0], more=threads[cell.pu][1:])
            if cell.pu in threads
            else cell
            for cell in box.cells
        )
        unused = "no pages" if box.memory_bytes else ""
        boxes.append(msgspec.structs.replace(box, cells=cells, words=words.get(index, unused), share=shares.get(index)))
    return PlacedMappingData(
        title=f"{mapping.label} on {drawable(topology.name)}",
        about=mapping_in_words(mapping),
        boxes=tuple(boxes),
        note=note,
    )


def mapping_figure(data: PlacedMappingData) -> Figure:
    """Return the figure: the nodes with threads and pages."""
    drawn = NodeMap(data.boxes)
    edge = 0.3
    width = 2 * edge + max(drawn.width, LEAST_WIDTH, 0.12 * len(data.title))
    about, note = (
        textwrap.fill(text, int(14 * (width - 2 * edge))) for text in (data.about, f"{data.cells} {data.note}")
    )
    head, foot = 0.68 + 0.17 * (about.count("\n") + 1), 0.3 + 0.16 * (note.count("\n") + 1)
    height = head + drawn.height + foot
    figure = Figure(figsize=(width, height))
    figure.text(edge / width, 1 - 0.2 / height, data.title, fontsize=13, weight="bold", va="top")
    figure.text(edge / width, 1 - 0.47 / height, about, fontsize=9, va="top", color=palette.TEXT)
    drawn.draw(figure, edge, foot)
    figure.text(edge / width, 0.14 / height, note, fontsize=8.5, va="bottom", color=palette.TEXT)
    return figure


_Told = tuple[dict[int, float], dict[int, str], str]


def _by_policy(placement: Placement) -> _Told:
    """Return shares and words by node (logical index), and the note, as far as the label determines them."""
    nodes = placement.page_nodes
    if len(nodes) == 1:
        return {nodes[0]: 1.0}, {nodes[0]: "100% of the pages"}, FROM_POLICY
    equal = f"1/{len(nodes)}"
    served = _served(placement)
    policy = FACTS[placement.mapping.page_policy]
    match policy.decided_by:
        case "address" | "nothing":
            shares = dict.fromkeys(nodes, 1 / len(nodes))
        case "chunk" | "weights":
            chunks = Counter(placement.chunks)
            shares = {node: count / len(placement.chunks) for node, count in chunks.items()}
        case "first writer" | "accesses":
            shared = policy.shared.format(share=equal)
            words = {}
            for node in nodes:
                own = policy.own.format(served=served[node]) if node in served else ""
                words[node] = "\nand ".join(filter(None, (own, shared)))
            return {}, words, policy.unknown
        case other:
            assert_never(other)
    return shares, {node: f"{_percent(share)} of the pages" for node, share in shares.items()}, FROM_POLICY


def _by_profile(placement: Placement, profile: Profile) -> _Told:
    """Return each node's share of the pages that a profile saw, placed as the preload library would."""
    mapping, topology = placement.mapping, placement.topology
    if mapping.page_policy not in PROFILED:
        raise UsageError(
            f"mapping {mapping.label}: {mapping.page_policy} places pages without a profile; leave out --profile, "
            f"or choose one of {', '.join(PROFILED)}"
        )
    plan = plan_of(profile, placement)
    index = {node.os_index: node.index for node in topology.nodes}
    pages: Counter[int] = Counter()
    for planned in plan.ranges:
        for _, count, os_index in planned.runs:
            pages[index[os_index]] += count
    total = sum(pages.values())
    if not total:
        raise InvalidInputError(
            "the profile has no samples to place pages by; make another of a longer run with numapredict run --profile"
        )
    count_of = counted(len(plan.ranges), "allocation")
    size_MB = total * profile.page_bytes / 1e6
    rescaled = f", made with {plan.rescaled_from} threads" if plan.rescaled_from else ""
    return (
        {node: count / total for node, count in pages.items()},
        {node: f"{_percent(count / total)} of the pages\n({count})" for node, count in pages.items()},
        f"Pages by a profile of {count_of}, {total} pages ({size_MB:.3g} MB){rescaled}; what it "
        "did not sample is not counted.",
    )


def _served(placement: Placement) -> dict[int, str]:
    """Return in words the thread nodes whose home each node is."""
    homes: dict[int, list[int]] = {}
    for home, slot in zip(placement.homes, placement.slots, strict=True):
        found, (os_index,) = homes.setdefault(home, []), placement.os_indices([slot.node])
        if os_index not in found:
            found.append(os_index)
    return {home: f"node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}" for home, nodes in homes.items()}


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
