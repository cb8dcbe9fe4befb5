"""Facts in words, for a person."""

from collections.abc import Iterator, Sequence

from numapredict.collect.host.facts.fact import Fact


def facts_in_words(facts: Sequence[Fact]) -> Iterator[str]:
    """Return a line for each fact, with a mark before those that disturb, and what to do in a line below them."""
    width = max((len(fact.name) for fact in facts), default=0)
    for fact in facts:
        mark = "!" if fact.disturbs else " "
        why = f": {fact.why}" if fact.why else ""
        yield f"{mark} {fact.name:{width}}  {fact.value}{why}"
        if fact.remedy:
            yield f"  {'':{width}}  -> {fact.remedy}"


def disturbances_in_words(facts: Sequence[Fact]) -> Iterator[str]:
    """Return one line for each fact that disturbs measurements: what it is, why, and what to do."""
    for fact in facts:
        if fact.disturbs:
            yield f"{fact.name} is {fact.value}: {fact.why}" + (f" ({fact.remedy})" if fact.remedy else "")
