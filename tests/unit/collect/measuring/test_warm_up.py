from pathlib import Path

from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.warm_up import Look, files_for_a_look, look
from numapredict.collect.placement import resolve
from tests.profiles import profile_bytes
from tests.samples import topology_of

TOPOLOGY = topology_of((2, 2))
MAPPING = parse_label("4x2-contiguous-first-touch")
MAP = """numaplace-map 1 7
thread 0 0 3 0
thread 1 1 3 1
range 1 0000000000000001 0 0 4 10 40 /app
at 0 3 0 0
at 3 1 1 0
"""


def written(folder: Path, text: str | None, profile: bytes | None) -> Look:
    files = files_for_a_look(folder)
    assert files.map is not None
    assert files.profile is not None
    if text is not None:
        Path(files.map).write_text(text)
    if profile is not None:
        Path(files.profile).write_bytes(profile)
    return look(files, resolve(MAPPING, TOPOLOGY))


def test_what_was_written_tells_where_all_stood(tmp_path: Path) -> None:
    found = written(tmp_path, MAP, profile_bytes([(4, [(0, 0, 1.0), (2, 2, 2.0), (3, 3, 1.0)])]))
    assert found == Look(threads=6 / 7, pages=3 / 4, local_share=0.5)
    assert not found.held


def test_a_program_that_is_hardly_seen_is_not_accused(tmp_path: Path) -> None:
    assert written(tmp_path, None, None) == Look()
    assert Look().held
    assert Look(threads=1.0, pages=0.985).held
    assert not Look(threads=0.9).held
    assert not Look(pages=0.97).held


def test_a_damaged_profile_costs_the_share_alone(tmp_path: Path) -> None:
    assert written(tmp_path, MAP, b"NUPPROF1") == Look(threads=6 / 7, pages=3 / 4)
    (tmp_path / "profile").unlink()
    assert written(tmp_path, MAP, None) == Look(threads=6 / 7, pages=3 / 4)
