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


def test_many_names_are_demangled_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    if demangling.shutil.which("c++filt") is None:
        pytest.skip("no c++filt")
    runs = []
    run = demangling.subprocess.run
    monkeypatch.setattr(demangling.subprocess, "run", lambda *words, **how: runs.append(words) or run(*words, **how))
    rust = "_ZN4core3fmt5Write9write_fmt17h05af221e174051e9E"
    names = ("main", "_ZN3sim5tableE", rust, "_Zno name", "_ZN3sim5tableE", "_RNvC3foo3bar")
    known = ("main", "sim::table", "core::fmt::Write::write_fmt", "_Zno name", "sim::table")
    found = demangling.demangled_all(names)
    assert found[:-1] == known
    assert found[-1].endswith("::bar")
    assert len(runs) == 1


def test_names_of_fortrans_modules_are_as_in_cxx() -> None:
    names = ("__heat_MOD_fill._omp_fn.0", "_QMheatPfill", "_QMheatEtable", "__heat_mod", "_QQmain")
    assert demangling.demangled_all(names) == (
        "heat::fill._omp_fn.0",
        "heat::fill",
        "heat::table",
        "__heat_mod",
        "_QQmain",
    )
