"""What a placed run reports in addition to the program's output, and its inputs."""

from pathlib import Path

import msgspec


class RunOptions(msgspec.Struct, frozen=True):
    """What a run reports in addition to the program's output, and its inputs.

    ``profile`` and ``json`` are written, ``use_profile`` and ``plan`` read; ``balancing`` false switches the kernel's
    own page moving off.
    """

    verify: bool = False
    regions: bool = False
    profile: Path | None = None
    use_profile: Path | None = None
    plan: Path | None = None
    json: Path | None = None
    balancing: bool = True

    @property
    def stays(self) -> bool:
        """Return whether there is something to do after the program."""
        return self != RunOptions()
