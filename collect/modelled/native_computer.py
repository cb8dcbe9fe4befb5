"""The native computer: the computer at hand, where native runs are made, in the figures that tell its memory's time."""

import os
from pathlib import Path

import msgspec

from numapredict.collect.host.environment import host_environment
from numapredict.collect.host.kernel_file import kernel_line
from numapredict.collect.modelled.description import MachineDescription, NodeShape
from numapredict.collect.placing.census import CENSUS_THREADS
from numapredict.collect.placing.tool_answer import tool_answer
from numapredict.native.errors import UnrunnableProgramError
from numapredict.native.library import probe_program

_CACHES = Path("/sys/devices/system/cpu/cpu{}/cache")
_UNIT_BYTES = {"K": 1 << 10, "M": 1 << 20}
# Clock and latency are by the probe's processor time. Bandwidth is not: of rounds far shorter than a time slice some
# are left alone on a busy computer, and the best of them is the computer's.
_ROUNDS, _ROUND_MS = 60, 1
_HIT_TRIES = 3  # others empty a shared cache, too
_MOST_BYTES = 1 << 30
_PLENTY_GBps = 1e4


class NativeComputer(msgspec.Struct, frozen=True, kw_only=True):
    """One core of this computer and its memory: ``latency_ns``, ``read_GBps`` and ``write_GBps`` are of one thread.

    ``cache_bytes`` and ``cache_ns`` are of the cache before the memory and of a hit in it.
    """

    processor: str
    frequency_GHz: float
    latency_ns: float
    read_GBps: float
    write_GBps: float
    cache_bytes: int
    cache_ns: float

    def described(self, machine: MachineDescription) -> MachineDescription:
        """Return a machine's description with one node that has this computer's figures, for the census's threads.

        The private caches stay the machine's, since a trace has them in it.
        """
        shared = machine.shared_cache
        way_bytes = shared.ways * machine.line_bytes
        size_bytes = max(self.cache_bytes // way_bytes, 1) * way_bytes
        latency = ((self.latency_ns,),)
        return msgspec.structs.replace(
            machine,
            frequency_GHz=self.frequency_GHz,
            turbo_GHz=(),
            threads_per_core=1,
            shared_cache=msgspec.structs.replace(shared, size_bytes=size_bytes, latency_ns=self.cache_ns, cores=0),
            nodes=(NodeShape(CENSUS_THREADS, _MOST_BYTES),),
            packages=(),
            die=None,
            read_latency_ns=latency,
            write_latency_ns=latency,
            controller_read_GBps=(_PLENTY_GBps,),
            controller_write_GBps=(_PLENTY_GBps,),
            links=(),
            routes=(((),),),
            thread_read_GBps=((self.read_GBps,),),
            thread_write_GBps=((self.write_GBps,),),
        )


class _Answer(msgspec.Struct, frozen=True):
    figures: dict[str, tuple[float, ...]]


def measured_here() -> NativeComputer | None:
    """Measure one core of this computer in about a second; return None where it cannot be."""
    pu = min(os.sched_getaffinity(0))
    own, shared = cache_sizes(Path(str(_CACHES).format(pu)))
    beyond = min(1 << (shared * 3 // 2).bit_length(), _MOST_BYTES)
    within = 1 << (min(4 * own, shared // 2).bit_length() - 1)
    try:
        speed = _asked(pu, "frequency")
        chase = _asked(pu, "latency", beyond)
        stream = _asked(pu, "bandwidth", beyond)
        hits = [_asked(pu, "cache", within) for _ in range(_HIT_TRIES)]
    except UnrunnableProgramError:
        return None
    return NativeComputer(
        processor=dict(host_environment())["processor"],
        frequency_GHz=sorted(speed["frequency_GHz"])[3 * _ROUNDS // 4],  # a few are beyond what the core has
        latency_ns=min(chase["latency_ns"]),
        read_GBps=max(stream["thread_read_GBps"]),
        write_GBps=max(stream["thread_write_GBps"]),
        cache_bytes=shared,
        cache_ns=min(min(hit["latency_ns"]) for hit in hits),
    )


def cache_sizes(folder: Path) -> tuple[int, int]:
    """Return the bytes of a core's last two caches, the larger one last, by the kernel; usual ones where it is mute."""
    found = set()
    for file in folder.glob("index*/size"):
        text = kernel_line(file)
        if text[-1:] in _UNIT_BYTES and text[:-1].isdecimal():
            found.add(int(text[:-1]) * _UNIT_BYTES[text[-1]])
    sizes = sorted(found)
    return (sizes[-2], sizes[-1]) if len(sizes) > 1 else (1 << 20, 32 << 20)


def _asked(pu: int, subject: str, size_bytes: int = 0) -> dict[str, tuple[float, ...]]:
    memory = ("-1", str(size_bytes)) if size_bytes else ()
    words = (str(probe_program()), subject, str(pu), str(_ROUNDS), str(_ROUND_MS), *memory)
    return tool_answer(words, _Answer, f"measuring {subject}", UnrunnableProgramError).figures
