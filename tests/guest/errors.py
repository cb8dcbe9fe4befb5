"""What can go wrong around a guest; what its command does is no error, but its exit code."""


class GuestError(Exception):
    """Say in one line what is missing or wrong; further lines are what the guest's console said last."""


class GuestTimeoutError(GuestError):
    """The guest was stopped because its time was spent."""
