"""Whether a program bears it that a region's team becomes smaller than the others: by its files, nothing is run.

A program that has asked how many threads there are may give each its part of the work or of an array, and adds up what
fewer have not written. Under libgomp the threads that a smaller team does without end, and their thread-local data with
them (OpenMP 5.2, sec. 5.2: threadprivate data last as long as teams keep their size).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from numapredict.collect.host.bounded_file import open_regular

_ASKING = ("omp_get_max_threads", "omp_get_max_threads_", "omp_get_num_procs", "omp_get_num_procs_")
_KEEPING = ("libomp.", "libiomp5.")
"""Runtimes that keep the threads which a smaller team does without."""


class TeamFacts(msgspec.Struct, frozen=True):
    """What a program's files say: which call asks for the number of threads, if one does; and two more.

    ``thread_local``: a file with thread-local data, empty where there is none. ``keeps_threads``: the runtime does.
    """

    asks: str = ""
    thread_local: str = ""
    keeps_threads: bool = False

    @property
    def reason(self) -> str:
        """Return why no team may become smaller, in words; empty where it may."""
        if self.thread_local and not self.keeps_threads:
            return f"{Path(self.thread_local).name} has thread-local data, which libgomp loses with a smaller team"
        if self.asks:
            calls = self.asks.rstrip("_")
            return f"it calls {calls} and may count on so many threads in a region (--smaller-teams allows it)"
        return ""


def team_facts(paths: Iterable[str]) -> TeamFacts:
    """Return what the program and the libraries with its regions say; files that cannot be read say nothing."""
    asks, thread_local, keeps, gomp = "", "", False, False
    for path in dict.fromkeys(paths):
        try:
            with open_regular(Path(path)) as file:
                elf = ELFFile(file)
                needed = _needed(elf)
                keeps = keeps or any(name.startswith(_KEEPING) for name in needed)
                gomp = gomp or any(name.startswith("libgomp.") for name in needed)
                asks = asks or next((name for name in _undefined(elf) if name in _ASKING), "")
                if not thread_local and any(True for _ in elf.iter_segments("PT_TLS")):
                    thread_local = path
        except Exception:  # noqa: S112 - what pyelftools raises for a damaged file has no common class
            continue
    return TeamFacts(asks, thread_local, keeps and not gomp)


def _needed(elf: Any) -> list[str]:  # noqa: ANN401 - pyelftools before 0.32 ships no types
    dynamic = next(iter(elf.iter_segments("PT_DYNAMIC")), None)
    return [] if dynamic is None else [str(tag.needed) for tag in dynamic.iter_tags("DT_NEEDED")]


def _undefined(elf: Any) -> list[str]:  # noqa: ANN401
    tables = [section for section in elf.iter_sections() if isinstance(section, SymbolTableSection)]
    return [
        symbol.name.partition("@")[0]
        for table in tables
        for symbol in table.iter_symbols()
        if symbol["st_shndx"] == "SHN_UNDEF"
    ]
