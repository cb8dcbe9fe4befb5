"""Whoever changes a file finds its tests: they have its name, in the same folder of tests/unit."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parents[1]
FOLDERS = {"packaging": ".packaging"}
OF_NO_FILE = {
    "test_names.py": "these names",
    "test_package.py": "the package itself, .import/numapredict/__init__.py",
    "packaging/test_recipes.py": "holds two packages against pyproject.toml",
}


def source_of(test: Path) -> Path:
    """Return the source that a test of tests/unit is named by, without its ending."""
    first, *rest = test.relative_to(TESTS).with_name(test.stem.removeprefix("test_")).parts
    return ROOT.joinpath(FOLDERS.get(first, first), *rest)


def test_every_unit_test_is_named_by_the_file_it_tests() -> None:
    tests = [test for test in TESTS.rglob("test_*.py") if str(test.relative_to(TESTS)) not in OF_NO_FILE]
    assert len(tests) > 100
    lost = [test for test in tests if not any(source_of(test).with_suffix(e).exists() for e in (".py", ".c", ".h"))]
    assert not lost, "name them by the file they test, or move them to tests/integration if they test several"


def test_every_exception_is_there() -> None:
    assert [name for name in OF_NO_FILE if not (TESTS / name).exists()] == []
