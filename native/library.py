"""Paths of the native parts: the placement, marks and replay libraries, the tracer and the programs."""

from collections.abc import Callable
from pathlib import Path

from numapredict.native import __path__ as folders
from numapredict.native.errors import MissingNativePartError


def tracer_plugin() -> Path:
    """Return the path of the QEMU plugin; raise MissingNativePartError where it was not built."""
    return _built("lib/libnumatracer.so")


def marks_library() -> Path:
    """Return the path of the preload library that marks regions; raise MissingNativePartError."""
    return _built("lib/libnumamarks.so")


def placement_library() -> Path:
    """Return the path of the preload library that places threads and pages; raise MissingNativePartError."""
    return _built("lib/libnumaplace.so")


def replay_library() -> Path:
    """Return the path of the shared-cache replay library; raise MissingNativePartError."""
    return _built("lib/libnumareplay.so")


def codelets_program() -> Path:
    """Return the path of the program that holds the codelets; raise MissingNativePartError."""
    return _built("bin/numapredict-codelets")


def launcher_program() -> Path:
    """Return the path of the program that starts another one and counts it; raise MissingNativePartError."""
    return _built("bin/numapredict-launch")


def stream_program() -> Path:
    """Return the path of the program that moves a known number of bytes; raise MissingNativePartError."""
    return _built("bin/numapredict-stream")


# Every part, by the name under which it is reported.
PARTS: dict[str, Callable[[], Path]] = {
    "placement": placement_library,
    "tracer": tracer_plugin,
    "marks": marks_library,
    "replay": replay_library,
    "codelets": codelets_program,
    "launcher": launcher_program,
    "stream": stream_program,
}


def built_file(name: str) -> Path:
    """Return the path of a file that the build makes, whether or not it exists.

    An editable installation has two folders: sources in the checkout, built files in the environment.
    """
    paths = [Path(folder) / name for folder in folders]
    return next(filter(Path.is_file, paths), paths[0])


def _built(name: str) -> Path:
    path = built_file(name)
    if not path.is_file():
        raise MissingNativePartError(
            f"{path.name} was not built: install numapredict with pip (which builds it), or in a checkout run "
            "cmake -S native -B build && cmake --build build && cmake --install build --prefix .import"
        )
    return path
