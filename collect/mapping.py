"""Mappings: how many threads on how many nodes, how placed, and where the memory pages go."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from numapredict.collect.page_policy import FACTS, PAGE_POLICIES, PagePolicy
from numapredict.native.errors import InvalidMappingError

ThreadPolicy = Literal["contiguous", "scatter"]
THREAD_POLICIES: tuple[ThreadPolicy, ...] = get_args(ThreadPolicy)

# At most five digits: no machine has more cores, and a longer number is a mistake to report at once.
_LABEL = re.compile(
    r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})-([a-z]+)-([a-z]+(?:-[a-z]+)?)(?:@([1-9][0-9]{0,4}))?"
    r"(?:-([1-9][0-9]{0,4})l3)?(?:-smt([2-9]|[1-9][0-9]))?"
)
_EXAMPLE = "write THREADSxNODES-THREAD_POLICY-PAGE_POLICY[@PAGE_NODES][-4l3][-smt2], such as 16x2-contiguous-locality"

_THREAD_POLICY: dict[str, ThreadPolicy] = {policy: policy for policy in THREAD_POLICIES}
_PAGE_POLICY: dict[str, PagePolicy] = {policy: policy for policy in PAGE_POLICIES}

CHOICES = ("threads", "thread_nodes", "thread_policy", "page_nodes", "page_policy", "threads_per_core", "thread_l3s")
"""A mapping's seven choices, in the order in which labels, tables and constructors have them."""

_set = object.__setattr__


class AnyMapping:
    """A mapping by its label, which is all that is known of an imported one: it can be compared, but not applied.

    Mappings are equal if their labels are. In files and in JSON a mapping is its label: see ``to_label``.
    """

    __slots__ = ("label",)
    label: str

    def __init__(self, label: str) -> None:
        _set(self, "label", label)

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.label}>"

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"mappings are shared: {name} of {self.label} cannot be changed; make another mapping")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.label,)

    def __hash__(self) -> int:
        return hash(self.label)

    if not TYPE_CHECKING:  # so that mypy reports a mapping compared with a text

        def __eq__(self, other: object) -> bool:
            return isinstance(other, AnyMapping) and self.label == other.label


class Mapping(AnyMapping):
    """Seven choices that place a program: the thesis's (sec. 2.2; ICS'19 table 1: NT, TND, TPP, PND, PPP), SMT and L3s.

    The threads run on the first ``thread_nodes`` nodes that have cores, ``threads_per_core`` on each core used. Those
    of a node take its cores in their order, an L3 cache's after the other's; or they are spread over ``thread_l3s``
    caches, of all nodes together. Any combination can be written; ``problem_of`` and ``placement.resolve`` check
    whether it is possible.
    """

    __slots__ = CHOICES
    threads: int
    thread_nodes: int
    thread_policy: ThreadPolicy
    page_nodes: int
    page_policy: PagePolicy
    threads_per_core: int
    thread_l3s: int

    def __init__(  # noqa: PLR0913, PLR0917 - its seven choices
        self,
        threads: int,
        thread_nodes: int,
        thread_policy: ThreadPolicy,
        page_nodes: int,
        page_policy: PagePolicy,
        threads_per_core: int = 1,
        thread_l3s: int = 0,
    ) -> None:
        _set(self, "threads", threads)
        _set(self, "thread_nodes", thread_nodes)
        _set(self, "thread_policy", thread_policy)
        _set(self, "page_nodes", page_nodes)
        _set(self, "page_policy", page_policy)
        _set(self, "threads_per_core", threads_per_core)
        _set(self, "thread_l3s", thread_l3s)
        shared = f"-{thread_l3s}l3" if thread_l3s else ""
        shared += f"-smt{threads_per_core}" if threads_per_core != 1 else ""
        _set(self, "label", f"{threads}x{thread_nodes}-{thread_policy}-{self.pages}{shared}")

    def __reduce__(self) -> tuple[object, ...]:
        return Mapping, self.choices

    @property
    def pages(self) -> str:
        """Return the label's part about pages: the page nodes show only where they differ from the thread nodes."""
        return self.page_policy if self.page_nodes == self.thread_nodes else f"{self.page_policy}@{self.page_nodes}"

    @property
    def choices(self) -> tuple[int, int, ThreadPolicy, int, PagePolicy, int, int]:
        """Return the seven choices in the order of the constructor's parameters."""
        return (
            *(self.threads, self.thread_nodes, self.thread_policy),
            *(self.page_nodes, self.page_policy, self.threads_per_core, self.thread_l3s),
        )

    def replaced(  # noqa: PLR0913 - its seven choices
        self,
        *,
        threads: int = 0,
        thread_nodes: int = 0,
        thread_policy: ThreadPolicy | None = None,
        page_nodes: int = 0,
        page_policy: PagePolicy | None = None,
        threads_per_core: int = 0,
        thread_l3s: int | None = None,
    ) -> "Mapping":
        """Return the mapping with some choices replaced; numbers are at least 1, but for ``thread_l3s``."""
        return Mapping(
            threads or self.threads,
            thread_nodes or self.thread_nodes,
            thread_policy or self.thread_policy,
            page_nodes or self.page_nodes,
            page_policy or self.page_policy,
            threads_per_core or self.threads_per_core,
            self.thread_l3s if thread_l3s is None else thread_l3s,
        )


@lru_cache(maxsize=4096)
def mapping_named(label: str) -> AnyMapping:
    """Return the mapping that a label names, an opaque one where the label is not in our grammar."""
    try:
        return parse_label(label)
    except InvalidMappingError:
        return AnyMapping(label)


def applicable(mapping: AnyMapping) -> Mapping:
    """Return a mapping that is in our grammar; raise InvalidMappingError for another one."""
    return mapping if isinstance(mapping, Mapping) else parse_label(mapping.label)


def order_of(mapping: AnyMapping) -> tuple[object, ...]:
    """Return the sort key of a mapping: ours first, by their choices, then others by label.

    Threads a core and L3 caches come after the thread nodes: mappings of the same size, and of these those on as many
    cores and caches, are neighbours.
    """
    if not isinstance(mapping, Mapping):
        return 1, mapping.label
    threads, thread_nodes, *others, threads_per_core, thread_l3s = mapping.choices
    return 0, threads, thread_nodes, threads_per_core, thread_l3s, *others


def to_label(mapping: object) -> str:
    """Return a mapping's label: the ``enc_hook`` of all that is written with msgspec."""
    if isinstance(mapping, AnyMapping):
        return mapping.label
    raise NotImplementedError(f"no form in JSON for {type(mapping).__name__}")


def from_label(_kind: type, label: object) -> AnyMapping:
    """Return the mapping that a label in a file names: the ``dec_hook`` of all that is read with msgspec."""
    try:
        return mapping_named(label if type(label) is str else msgspec.convert(label, str))
    except msgspec.ValidationError as error:
        raise TypeError(str(error)) from None  # of this error msgspec says where


@lru_cache(maxsize=4096)
def parse_label(text: str) -> Mapping:
    """Return the mapping that a label names; raise InvalidMappingError for a text that names none."""
    match = _LABEL.fullmatch(text)
    if match is None:
        raise InvalidMappingError(f"{_shown(text)} is not a mapping's label: {_EXAMPLE}")
    threads, thread_nodes, thread_name, page_name, page_nodes, thread_l3s, threads_per_core = match.groups()
    thread_policy, page_policy = _THREAD_POLICY.get(thread_name), _PAGE_POLICY.get(page_name)
    if thread_policy is None:
        raise InvalidMappingError(f"{text!r}: thread policy {thread_name!r} is not one of {', '.join(THREAD_POLICIES)}")
    if page_policy is None:
        raise InvalidMappingError(f"{text!r}: page policy {page_name!r} is not one of {', '.join(PAGE_POLICIES)}")
    mapping = Mapping(
        threads=int(threads),
        thread_nodes=int(thread_nodes),
        thread_policy=thread_policy,
        page_nodes=int(page_nodes or thread_nodes),
        page_policy=page_policy,
        threads_per_core=int(threads_per_core or 1),
        thread_l3s=int(thread_l3s or 0),
    )
    problem = problem_of(mapping)
    if problem:
        raise InvalidMappingError(f"{text!r}: {problem}")
    return mapping


def problem_of(mapping: Mapping) -> str:
    """Return why no machine could apply the mapping, in a few words, or nothing when some could."""
    if min(mapping.threads, mapping.thread_nodes, mapping.page_nodes, mapping.threads_per_core) < 1:
        return "threads, thread nodes, page nodes and threads a core must be at least 1"
    if mapping.threads < mapping.thread_nodes:
        return f"{mapping.threads} threads cannot occupy {mapping.thread_nodes} nodes; use at least one thread a node"
    if mapping.thread_l3s and not mapping.thread_nodes <= mapping.thread_l3s <= mapping.threads:
        span = f"{mapping.threads} threads on {mapping.thread_nodes} nodes"
        return f"{span} can use {mapping.thread_nodes} to {mapping.threads} L3 caches, not {mapping.thread_l3s}"
    needed = FACTS[mapping.page_policy].page_nodes
    if needed == "one node" and mapping.page_nodes != 1:
        return f"{mapping.page_policy} puts all pages on one node; end the label with @1"
    if needed == "thread nodes" and mapping.page_nodes != mapping.thread_nodes:
        return f"{mapping.page_policy} needs the pages on the {mapping.thread_nodes} thread nodes; leave out @"
    return ""


def _shown(text: str) -> str:
    """Return a text in quotes, cut where it would not fit a line."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
