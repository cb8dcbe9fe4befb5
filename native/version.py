"""The version of what is installed."""


def version() -> str:
    """Return it; ``not installed`` for a checkout. Looking it up takes some milliseconds."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("numapredict")
    except PackageNotFoundError:
        return "not installed"
