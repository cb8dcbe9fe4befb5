import os
from pathlib import Path

import pytest

from numapredict.collect.machines.balancing import balancing_is_on, without_balancing


@pytest.mark.parametrize("before", ["1", "2"])
def test_balancing_is_off_meanwhile_and_back_afterwards(tmp_path: Path, before: str) -> None:
    path = tmp_path / "numa_balancing"
    path.write_text(f"{before}\n")
    said: list[str] = []

    def interrupted() -> None:
        with without_balancing(said.append, path):
            assert not balancing_is_on(path)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text().strip() == before
    assert balancing_is_on(path)
    assert said == []


def test_what_is_off_or_absent_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "numa_balancing"
    with without_balancing(pytest.fail, path):
        assert not balancing_is_on(path)
    assert not path.exists()
    path.write_text("0")
    stamp = path.stat().st_mtime_ns
    with without_balancing(pytest.fail, path):
        pass
    assert (path.read_text(), path.stat().st_mtime_ns) == ("0", stamp)


def test_what_is_not_permitted_is_said_once_and_names_the_command(tmp_path: Path) -> None:
    path = tmp_path / "numa_balancing"
    path.write_text("1")
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("root writes everywhere")
    said: list[str] = []
    with without_balancing(said.append, path):
        assert balancing_is_on(path)
    assert len(said) == 1
    assert "sysctl kernel.numa_balancing=0" in said[0]


def test_a_setting_that_refuses_to_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "numa_balancing"
    path.write_text("1")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "write_text", refuse)
    said: list[str] = []
    with without_balancing(said.append, path):
        pass
    assert len(said) == 1
    assert "Operation not permitted" in said[0]
    assert "\n" not in said[0]
