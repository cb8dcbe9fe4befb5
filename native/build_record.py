"""What the native parts were built from, as the build wrote it down."""

from pathlib import Path

import msgspec

from numapredict.native.library import built_file

UNKNOWN = "unknown"


class BuildRecord(msgspec.Struct, frozen=True):
    """A commit, with -dirty after it where the files differed from it, and a compiler; each "unknown" where it is."""

    commit: str = UNKNOWN
    compiler: str = UNKNOWN


def build_record(file: Path | None = None) -> BuildRecord:
    """Return what ``native/provenance.cmake`` wrote; all is unknown where nothing was built or it cannot be read."""
    try:
        return msgspec.json.decode((file or built_file("build_record.json")).read_bytes(), type=BuildRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return BuildRecord()
