import pytest

from numapredict.collect.source import demangling


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    demangling.demangled.cache_clear()


def test_names_of_c_stay_as_they_are() -> None:
    assert [demangling.demangled(name) for name in ("main", "_Zé", "_Z\n1a", "")] == ["main", "_Zé", "_Z\n1a", ""]


def test_names_of_cxx_are_those_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    if demangling.shutil.which("c++filt") is not None:
        assert demangling.demangled("_ZN3sim5tableE") == "sim::table"
    demangling.demangled.cache_clear()
    monkeypatch.setattr(demangling.shutil, "which", lambda _: None)
    assert demangling.demangled("_ZN3sim5tableE") == "_ZN3sim5tableE"
