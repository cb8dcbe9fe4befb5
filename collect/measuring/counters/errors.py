"""What can go wrong while counting."""

from numapredict.native.errors import NumapredictError


class CounterError(NumapredictError):
    """A source of counters failed in a run, or wrote what cannot be read."""
