"""The page policies: what decides each page's node, defined once for placement, tools, texts and figures."""

from typing import Literal, get_args

import msgspec

PagePolicy = Literal["first-touch", "locality", "balance", "interleave", "mix", "dataset", "bind", "remote", "weighted"]
PAGE_POLICIES: tuple[PagePolicy, ...] = get_args(PagePolicy)

KernelPolicy = Literal["local", "interleave", "bind"]
"""The memory policies of set_mempolicy(2) that tools can set for a whole process; ``local`` is the default."""

PageNodes = Literal["thread nodes", "one node", "any number"]
DecidedBy = Literal["first writer", "accesses", "address", "weights", "chunk", "nothing"]


class PolicyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of a page policy; the algorithm itself is in ``placement``.

    ``page_nodes``: on how many nodes a mapping may have its pages (ICS'19 table 1). ``decided_by``: what, besides the
    mapping, decides a page's node. ``with_threads``: all pages are on one node where that is home to all threads.
    ``away``: the one node has no threads. ``kernel``: the kernel's equal memory policy, None where only the preload
    library can apply the policy; ``nearest`` is then the policy to use without the library. ``usual``: spaces have it
    without being asked for it.

    ``short`` names the policy in a list. ``sentence`` has ``{nodes}`` for the page nodes and ``{there}`` for the first
    of them, ``on_node`` what one node gets with ``{share}`` for its part. The figure of a mapping says of each node
    ``own`` (``{served}``: the nodes that its memory serves) and ``shared`` (``{share}``), and below ``unknown``.
    """

    page_nodes: PageNodes = "any number"
    decided_by: DecidedBy
    with_threads: bool = False
    away: bool = False
    kernel: KernelPolicy | None = None
    nearest: PagePolicy = "first-touch"
    usual: bool = True
    short: str
    sentence: str
    on_node: str
    own: str = ""
    shared: str = ""
    unknown: str = ""

    @property
    def needs_profile(self) -> bool:
        """Return whether a profile decides where its pages go; without one they move by next touch."""
        return self.decided_by == "accesses"


_PROFILE_SHOWS = "How many pages that is depends on the program; a profile (numapredict run --profile) shows it."

FACTS: dict[PagePolicy, PolicyFacts] = {
    "first-touch": PolicyFacts(
        page_nodes="thread nodes",
        decided_by="first writer",
        with_threads=True,
        kernel="local",
        short="first touch",
        sentence="each page on the node of the thread that writes to it first",
        on_node="pages that its threads write to first",
        own="first touched from {served}",
        unknown="How many pages that is depends on the program: all of them where one thread initialises.",
    ),
    "locality": PolicyFacts(
        page_nodes="thread nodes",
        decided_by="accesses",
        with_threads=True,
        short="by locality",
        sentence="each page on the node whose threads use it most",
        on_node="pages that its threads use most",
        own="used most from {served}",
        unknown=_PROFILE_SHOWS,
    ),
    "balance": PolicyFacts(
        decided_by="accesses",
        nearest="interleave",  # balances by address, without a profile
        short="balanced",
        sentence="pages so that {nodes} get equally many accesses",
        on_node="pages with {share} of the accesses",
        shared="pages with {share} of the accesses",
        unknown="How many pages make equally many accesses depends on the program.",
    ),
    "interleave": PolicyFacts(
        decided_by="address",
        kernel="interleave",
        short="interleaved",
        sentence="pages round-robin over {nodes} by address",
        on_node="{share} of the pages, by address",
    ),
    "mix": PolicyFacts(
        decided_by="accesses",
        with_threads=True,  # all accesses come from one node, which then dominates every page
        short="by mix",
        sentence="pages by locality where one node dominates, the others balanced over {nodes}",
        on_node="pages that its threads use most, and a part of the shared ones",
        own="used most from {served}",
        shared="{share} of what is shared",
        unknown=_PROFILE_SHOWS,
    ),
    "dataset": PolicyFacts(
        decided_by="chunk",
        short="by dataset",
        sentence="each array cut into one chunk a thread, on {nodes}",
        on_node="{share} of each allocation",
    ),
    "bind": PolicyFacts(
        page_nodes="one node",
        decided_by="nothing",
        kernel="bind",
        short="bound",
        sentence="all pages {there}",
        on_node="all pages",
    ),
    "remote": PolicyFacts(
        page_nodes="one node",
        decided_by="nothing",
        away=True,
        kernel="bind",
        short="remote",
        sentence="all pages on the farthest node",
        on_node="all pages",
    ),
    "weighted": PolicyFacts(
        decided_by="weights",
        nearest="interleave",
        usual=False,
        short="weighted",
        sentence="pages over {nodes} by what each node can deliver to the threads",
        on_node="{share} of the pages, by bandwidth",
    ),
}
"""Every page policy by its name in labels; native/placement has the same names."""

USUAL = tuple(policy for policy in PAGE_POLICIES if FACTS[policy].usual)
"""The page policies of all spaces that are not asked for another one."""

EXPRESSIBLE = tuple(policy for policy in PAGE_POLICIES if FACTS[policy].kernel is not None)
"""The page policies that a tool can apply without the preload library."""

PROFILED = tuple(policy for policy in PAGE_POLICIES if FACTS[policy].needs_profile)
"""The page policies that depend on who uses a page; the others need no profile."""
