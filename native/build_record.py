"""Reads the record that the build wrote of what the native parts were built from."""

from pathlib import Path

import msgspec

from numapredict.native.library import built_file

UNKNOWN = "unknown"


class BuildRecord(msgspec.Struct, frozen=True):
    """The commit (with -dirty after it if files were changed) and the compiler; "unknown" where not recorded."""

    commit: str = UNKNOWN
    compiler: str = UNKNOWN


def build_record(file: Path | None = None) -> BuildRecord:
    """Return what ``native/provenance.cmake`` wrote; "unknown" throughout if that cannot be read."""
    try:
        return msgspec.json.decode((file or built_file("build_record.json")).read_bytes(), type=BuildRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return BuildRecord()
