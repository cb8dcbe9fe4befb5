"""A place in the source: the functions, files and lines that an address of a module stands for."""

import re
from pathlib import PurePath

import msgspec

from numapredict.collect.source.short_names import short_name

_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/opt/", "/include/c++/")
_ARGUMENTS = re.compile(r"<.*>")
"""Of a template."""


class Frame(msgspec.Struct, frozen=True):
    """A function with the file, the line in it, and the column in that; None for what is not known."""

    function: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None

    @property
    def known(self) -> bool:
        """Return whether a line is known."""
        return self.file is not None and self.line is not None

    @property
    def outlined(self) -> bool:
        """Return whether the function is the body of a parallel region, which the compiler made a function of."""
        return self.function is not None and ("._omp_fn." in self.function or "omp_outlined" in self.function)

    @property
    def is_constructor(self) -> bool:
        """Return whether the function is a constructor in C++: ``Grid<double>::Grid``."""
        names = _ARGUMENTS.sub("", self.function or "").partition("(")[0].split("::")
        return len(names) > 1 and names[-1] == names[-2] != ""

    @property
    def of_the_system(self) -> bool:
        """Return whether the file belongs to a compiler or a library, such as the header of std::vector."""
        return self.file is not None and any(part in self.file for part in _SYSTEM)


class Place(msgspec.Struct, frozen=True):
    """An address of a module, and the frames that it stands for.

    ``frames`` has the innermost function first; those after it are the functions that it was inlined into. ``doubt``
    says in one line why lines or names are missing, empty where nothing is.
    """

    module: str
    offset: int
    frames: tuple[Frame, ...] = ()
    doubt: str = ""

    @property
    def own_frames(self) -> tuple[Frame, ...]:
        """Return the frames in the program's own files, innermost first; without any, those with a line, else all."""
        known = tuple(frame for frame in self.frames if frame.known)
        return tuple(frame for frame in known if not frame.of_the_system) or known or self.frames

    @property
    def frame(self) -> Frame:
        """Return the innermost frame in the program's own files; without one, the innermost."""
        return next(iter(self.own_frames), Frame())

    @property
    def in_c_library(self) -> bool:
        """Return whether the address lies in the C library, such as in memset."""
        return PurePath(self.module).name.startswith(("libc.so.", "libc-2."))

    @property
    def of_the_system(self) -> bool:
        """Return whether the address lies in a library below the program: the C library or an OpenMP runtime."""
        return self.in_c_library or PurePath(self.module).name.startswith(("libgomp", "libomp", "libiomp", "ld-linux"))

    @property
    def by_container(self) -> bool:
        """Return whether the line's code comes from a header, as that of std::vector does, inlined into the program."""
        return self.frames[:1] != () and self.frames[0].of_the_system and not self.frame.of_the_system

    @property
    def in_region(self) -> bool:
        """Return whether the address lies in the body of a parallel region, as far as its functions' names tell."""
        return any(frame.outlined for frame in self.frames)

    @property
    def text(self) -> str:
        """Return the place in a few words, with names of C++ shortened: ``fill, heat.c:40``."""
        return self._with(short_name(plain_function(self.frame.function)))

    @property
    def whole_text(self) -> str:
        """Return the place as ``text`` does, with its function's whole name."""
        return self._with(plain_function(self.frame.function))

    def _with(self, function: str) -> str:
        frame, where = self.frame, f"{PurePath(self.module).name or 'no file'}+{self.offset:#x}"
        if not frame.known or self.in_c_library:
            return f"{function}, {where}" if function else where
        line = f"{PurePath(frame.file or '').name}:{frame.line}"
        return f"{function}, {line}" if function else line


def plain_function(function: str | None) -> str:
    """Return a function's name without what a compiler adds for a parallel region's body; empty where unknown."""
    if function is None:
        return ""
    for mark in ("._omp_fn.", "omp_outlined"):
        if mark in function:  # c++filt calls it a clone
            before = function.partition(mark)[0].rstrip(".").removesuffix(" [clone ").strip(" .")
            return f"{before} (parallel region)" if before else "parallel region"
    return function
