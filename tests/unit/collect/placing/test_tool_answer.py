import msgspec
import pytest

from numapredict.collect.placing.tool_answer import tool_answer
from numapredict.native.errors import CounterError, UnrunnableProgramError


class Counted(msgspec.Struct, frozen=True):
    count: int


def answer(script: str) -> Counted:
    return tool_answer(("sh", "-c", script), Counted, "counting", CounterError)


def test_the_answer_is_the_first_line_that_is_one_whatever_stands_around_it() -> None:
    lines = ("all good", "3", '{"cost": 1}', '{"count": "many"}', '{"count": 2}', '{"count": 4}', "the end")
    assert answer("; ".join(f"echo '{line}'" for line in lines)) == Counted(2)
    assert answer("echo '{\"count\": 2}'; echo unimportant >&2; exit 5") == Counted(2)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("true", "counting: sh printed nothing (exit code 0)"),
        ("exit 3", "counting: sh printed nothing (exit code 3)"),
        ("echo first >&2; echo last >&2; exit 3", "counting: last"),
        ("echo '{\"count\": null}'", 'counting: {"count": null}'),
        ("kill -KILL $$", "counting was killed: memory is short here (numapredict doctor shows limits)"),
    ],
)
def test_what_is_no_answer_gets_one_line(script: str, said: str) -> None:
    with pytest.raises(CounterError) as error:
        answer(script)
    assert str(error.value) == said


def test_the_error_is_the_callers() -> None:
    with pytest.raises(UnrunnableProgramError, match=r"^counting: cannot run absent: No such file or directory$"):
        tool_answer(("/absent",), Counted, "counting", UnrunnableProgramError)
    with pytest.raises(UnrunnableProgramError, match=r"^counting takes more than 0\.05 s: end what else runs there$"):
        tool_answer(("sleep", "10"), Counted, "counting", UnrunnableProgramError, 0.05)


def test_settings_for_the_program_that_is_placed_are_not_for_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_PRELOAD", "OMP_NUM_THREADS", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"):
        monkeypatch.setenv(name, "")
    assert answer("echo '{\"count\": '$(env | grep -cE '^(LD_PRELOAD|OMP_|GOMP_|KMP_)')'}'") == Counted(0)
