"""The ways of choosing a mapping that an evaluation compares; each text is a key in JSON and a row of tables."""

from enum import StrEnum


class Strategy(StrEnum):
    """A way of choosing; the named subsets' oracles are not members but have the names of ``subset_oracle``."""

    OURS = "search of 4 runs"
    QUICK = "search of 2 runs"
    THESIS = "thesis recipe"
    NEIGHBOURS = "nearest neighbours"
    TREE = "decision tree"
    FOREST = "random forest"
    DEFAULT = "default"
    INTERLEAVE = "interleave"
    SCATTER = "scatter first-touch"
    FIXED = "fixed"
    RANDOM = "random"
    RANDOM_SEARCH = "random search"
    PORTFOLIO = "fixed portfolio"
    ORACLE = "oracle"


def subset_oracle(subset: str) -> str:
    """Return the name of the best choice within a named subset of the mappings."""
    return Strategy.ORACLE if subset == "full" else f"{subset} {Strategy.ORACLE}"
