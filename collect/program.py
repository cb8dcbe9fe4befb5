"""Programs: a command with its arguments, as a user would type it."""

import hashlib
from pathlib import PurePath

import msgspec

from numapredict.native.errors import UnrunnableProgramError

CODELETS = "numapredict-codelets"
"""The name in commands of the program that holds the codelets, independent of its folder."""

APPLICATIONS = "numapredict-applications"
"""The name in commands of the program that holds the applications."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One command with its arguments; codelets and users' programs are run alike.

    ``command`` holds the executable's path and its arguments, never a shell string. ``environment`` holds variables set
    in addition to the caller's, as pairs. ``group`` names the code that this program is a variant of (a codelet in
    another size, say): evaluations hold out whole groups. ``summary`` says in words what it does. With a ``region``,
    module and offset of an outermost parallel region, the program stands for that region of the command alone.
    """

    name: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    directory: str | None = None
    group: str = ""
    summary: str = ""
    region: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for an empty command."""
        if not self.command or not self.command[0]:
            raise ValueError(f"program {self.name!r} has an empty command")

    @property
    def identity(self) -> str:
        """Return a short digest of the command, environment, directory and region: equal programs have the same."""
        text = repr((self.command, sorted(self.environment), self.directory, *([self.region] if self.region else ())))
        return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]


def name_with_arguments(command: tuple[str, ...]) -> str:
    """Return a command without the executable's folder: the name of a user's program in a campaign."""
    return " ".join([PurePath(command[0]).name, *command[1:]])


def program_of(command: tuple[str, ...], name: str | None = None) -> Program:
    """Return the program that runs ``command``, named after its executable unless a name is given.

    Raises UnrunnableProgramError for an argument that no text file can hold, and for an empty command.
    """
    for word in command:
        if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
            shown = word.encode(errors="surrogateescape").decode(errors="backslashreplace")
            raise UnrunnableProgramError(f"argument '{shown}' is not UTF-8; rename the file that it names")
    return program_as_typed(command, name)


def program_as_typed(command: tuple[str, ...], name: str | None = None) -> Program:
    """Return the program that runs ``command``, to be started but not saved to files: any bytes are allowed.

    Raises UnrunnableProgramError for an empty command.
    """
    if not command or not command[0]:
        raise UnrunnableProgramError("the program's name is empty; name a program, with its arguments behind it")
    return Program(name=name or PurePath(command[0]).name or command[0], command=command)
