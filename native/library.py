"""Paths of the native parts: the preload libraries, the replay library, the tracer and the programs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from numapredict.native import __path__ as folders
from numapredict.native.errors import MissingNativePartError


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


# The path of each part; MissingNativePartError where it was not built.
tracer_plugin = partial(_built, "lib/libnumatracer.so")
marks_library = partial(_built, "lib/libnumamarks.so")
ranges_library = partial(_built, "lib/libnumaranges.so")
placement_library = partial(_built, "lib/libnumaplace.so")
replay_library = partial(_built, "lib/libnumareplay.so")
capture_library = partial(_built, "lib/libnumacapture.so")
codelets_program = partial(_built, "bin/numapredict-codelets")
applications_program = partial(_built, "bin/numapredict-applications")
launcher_program = partial(_built, "bin/numapredict-launch")
stream_program = partial(_built, "bin/numapredict-stream")
probe_program = partial(_built, "bin/numapredict-probe")


def headers_folder() -> Path:
    """Return the folder of numapredict.h and numapredict.f90."""
    return _built("include/numapredict.h").parent


# Every part, by the name under which it is reported.
PARTS: dict[str, Callable[[], Path]] = {
    "placement": placement_library,
    "tracer": tracer_plugin,
    "marks": marks_library,
    "ranges": ranges_library,
    "replay": replay_library,
    "capture": capture_library,
    "codelets": codelets_program,
    "applications": applications_program,
    "launcher": launcher_program,
    "stream": stream_program,
    "probe": probe_program,
}
