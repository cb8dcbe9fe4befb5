"""Programs with hints are known by their files."""

from pathlib import Path

from numapredict.collect.placing.hints import has_hints


def test_only_a_file_that_names_the_call_has_hints(tmp_path: Path) -> None:
    program = tmp_path / "program"
    assert not has_hints(program)
    program.touch()
    assert not has_hints(program)
    program.write_bytes(bytes(9000) + b"numapredict_v1" + bytes(9))
    assert has_hints(program)
    assert not has_hints(Path("/bin/true"))
