"""Answers on variables and regions as objects."""

from typing import TYPE_CHECKING, Any

from numapredict.collect.capturing.gain import Gain
from numapredict.predictor.api.frame import frame_of, plain_of
from numapredict.predictor.api.notebook import notebook_table
from numapredict.predictor.regions.regions_text import regions_in_words
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.variables.variable import Variable, Variables
from numapredict.predictor.variables.variables_text import variables_in_words

if TYPE_CHECKING:
    import pandas as pd


class FoundVariables:
    """What ``variables`` returns; ``record`` has all of it, as ``--json`` prints it."""

    def __init__(self, record: Variables) -> None:
        self.record = record

    def frame(self) -> "pd.DataFrame":
        """Return a row a variable, the costliest first: a column a field of the record, such as `name` and `cost`."""
        return frame_of(Variable, self.record.variables)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values (``numapredict schema variables``)."""
        return plain_of(self.record)

    def __str__(self) -> str:
        """Return the answer in words, as the command prints it."""
        return variables_in_words(self.record)

    def _repr_html_(self) -> str:
        rows = [(each.name or each.kind, f"{100 * each.cost:.1f}% of touches") for each in self.record.variables]
        return notebook_table("variables of " + " ".join(self.record.command), rows)


class FoundRegions:
    """What ``regions`` returns; ``record`` has all of it, as ``--json`` prints it."""

    def __init__(self, record: ReplayedRegions) -> None:
        self.record = record

    def frame(self) -> "pd.DataFrame":
        """Return a row a region, that with most time first: a column a field of the record, such as `name`."""
        return frame_of(ReplayedRegion, self.record.regions)

    def gains(self) -> "pd.DataFrame":
        """Return a row a region and mapping: `region`, and a column a field of the gain, such as `speedup`."""
        import pandas as pd

        frames = [frame_of(Gain, each.gains, region=each.name) for each in self.record.regions if each.gains]
        return pd.concat(frames, ignore_index=True) if frames else frame_of(Gain, (), region="")

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values (``numapredict schema regions``)."""
        return plain_of(self.record)

    def __str__(self) -> str:
        """Return the answer in words, as the command prints it."""
        return "\n".join(regions_in_words(self.record))

    def _repr_html_(self) -> str:
        best = [(each.name, each.best) for each in self.record.regions]
        rows = [
            (name, "not replayed" if gain is None else f"{gain.speedup:.2f}x {gain.mapping}") for name, gain in best
        ]
        return notebook_table("regions of " + " ".join(self.record.command), rows)
