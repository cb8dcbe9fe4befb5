"""The root of every error that numapredict raises on purpose."""


class NumapredictError(Exception):
    """Say what is wrong, where, and what to do next, in one line; the command line exits with 2."""


class MissingNativePartError(NumapredictError):
    """A compiled part or an outside program that this step needs is not installed."""
