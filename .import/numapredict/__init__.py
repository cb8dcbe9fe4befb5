"""Say, after two short runs of a program, where its threads and memory pages should live on a NUMA machine.

In a checkout this file lies beside links to the folders of the package; an installation has it beside the folders.
"""

TYPE_CHECKING = False  # type checkers take it for true; `numapredict --help` need not load `typing`
if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Return ``__version__``, that of what is installed; found when it is asked for, since that takes its time."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("numapredict")
        except PackageNotFoundError:
            return "not installed"
