"""What was advised last is applied by `run` without a mapping; where there is none, one line says what to do."""

import logging
from pathlib import Path

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.mapping import parse_label
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import program_of
from numapredict.native.errors import KeptAsItIsError, UsageError
from numapredict.predictor.advising.last_advice import keep_advice, label_or_itself, label_to_run, last_label

TRUE, LABEL = program_of(("/bin/true", "a")), "1x1-contiguous-bind"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    return tmp_path


def test_the_latest_advice_for_an_executable_is_found_whatever_its_arguments(caplog: pytest.LogCaptureFixture) -> None:
    keep_advice(TRUE, host_topology(), parse_label("2x1-contiguous-bind"))
    keep_advice(TRUE, host_topology(), parse_label(LABEL))
    with caplog.at_level(logging.INFO):
        assert last_label(program_of(("/bin/true", "other"))) == LABEL
    (line,) = caplog.messages
    assert line.startswith("the last advice for /bin/true, ")
    assert line.endswith(f"ago: {LABEL}")


def test_the_same_file_under_another_name_is_the_same_program(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/bin/true")
    keep_advice(TRUE, host_topology(), parse_label(LABEL))
    assert last_label(program_of((str(tmp_path / "link"),))) == LABEL


def test_without_advice_and_where_it_was_to_keep_the_program_it_is_said() -> None:
    with pytest.raises(UsageError, match=r"no mapping was advised for /bin/true .* yet: ask by numapredict /bin/true"):
        last_label(TRUE)
    keep_advice(TRUE, host_topology(), AS_IT_IS)
    with pytest.raises(KeptAsItIsError, match="was to keep it as it is: name a --mapping"):
        last_label(TRUE)


def test_a_program_without_a_mapping_of_its_own_is_profiled_as_it_runs_by_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        assert label_or_itself(TRUE, "it is profiled") == "spread"
    assert caplog.messages == ["no mapping was advised for /bin/true yet: it is profiled"]
    keep_advice(TRUE, host_topology(), AS_IT_IS)
    assert label_or_itself(TRUE, "it is profiled") == "spread"
    keep_advice(TRUE, host_topology(), parse_label(LABEL))
    assert label_or_itself(TRUE, "it is profiled") == LABEL


def test_a_program_with_hints_runs_under_the_library_whatever_was_advised(tmp_path: Path) -> None:
    hinted = tmp_path / "hinted"
    hinted.write_bytes(Path("/bin/true").read_bytes() + b"\0numapredict_v1\0")
    hinted.chmod(0o755)
    program = program_of((str(hinted),))
    assert label_to_run(program) == "spread"
    keep_advice(program, host_topology(), AS_IT_IS)
    assert label_to_run(program) == "spread"
    keep_advice(program, host_topology(), parse_label(LABEL))
    assert label_to_run(program) == LABEL
    with pytest.raises(UsageError, match="no mapping was advised for /bin/true"):
        label_to_run(TRUE)


@pytest.mark.parametrize("text", ["", "[]", '{"schema_version": 1, "mapping": "4x", "made_s": 1}', "\xff"])
def test_a_damaged_file_is_one_line(text: str, cache: Path) -> None:
    keep_advice(TRUE, host_topology(), parse_label(LABEL))
    (file,) = (cache / "advice").iterdir()
    file.write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match=r"cannot be read: .*; ask by numapredict") as error:
        last_label(TRUE)
    assert "\n" not in str(error.value)


def test_advice_of_another_version_is_not_applied(cache: Path) -> None:
    keep_advice(TRUE, host_topology(), parse_label(LABEL))
    (file,) = (cache / "advice").iterdir()
    file.write_text(file.read_text().replace('"schema_version":1', '"schema_version":2'))
    with pytest.raises(UsageError, match="another version"):
        last_label(TRUE)


def test_a_cache_that_cannot_be_written_does_not_end_an_answer(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    (cache / "advice").write_text("no folder")
    with caplog.at_level(logging.INFO):
        keep_advice(TRUE, host_topology(), parse_label(LABEL))
    assert "the advice is not kept" in caplog.text
