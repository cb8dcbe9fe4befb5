"""What other packagers are given agrees with pyproject.toml, in versions, dependencies and commands."""

import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from numapredict.predictor.main import main

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]


def lowest(requirement: str) -> tuple[str, str]:
    """Return a requirement's name and lowest version: all of ours have this form."""
    parsed = Requirement(requirement)
    ((bound,)) = parsed.specifier
    assert bound.operator == ">="
    return parsed.name, bound.version


RUN = {lowest(text) for text in PROJECT["dependencies"]}
PYTHON = PROJECT["requires-python"].removeprefix(">=")
PYTHONS = {text.rsplit(" ", 1)[1] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)}
CMAKE = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (ROOT / "native/CMakeLists.txt").read_text())


def test_all_pythons_that_are_promised_are_named() -> None:
    assert min(PYTHONS, key=lambda text: int(text.split(".")[1])) == PYTHON
    assert {"3.11", "3.12", "3.13"} == PYTHONS


class TestConda:
    @pytest.fixture
    def variants(self) -> list[dict]:
        rattler_build = pytest.importorskip("rattler_build")
        settings = rattler_build.VariantConfig.from_file(FOLDER / "conda/variants.yaml")
        recipe = rattler_build.Stage0Recipe.from_file(FOLDER / "conda/recipe.yaml")
        return [{"variant": one.variant, **one.recipe.to_dict()} for one in recipe.render(settings)]

    def test_there_is_a_package_for_every_python(self, variants: list[dict]) -> None:
        assert {one["variant"]["python"].removesuffix(".*") for one in variants} == PYTHONS

    def test_it_agrees(self, variants: list[dict]) -> None:
        for one in variants:
            assert (one["package"]["name"], one["package"]["version"]) == (PROJECT["name"], PROJECT["version"])
            assert one["about"]["license"] == PROJECT["license"]
            assert one["about"]["summary"] == PROJECT["description"]
            needs = {tuple(text.split(" >=")) for text in one["requirements"]["run"]}
            assert needs == {*self.renamed(RUN), ("python", PYTHON)}
            assert {lowest(text) for text in BUILD} <= {
                tuple(text.split(" >=")) for text in one["requirements"]["host"]
            }
            assert CMAKE
            assert f"cmake >={CMAKE[1]}" in one["requirements"]["build"]

    @staticmethod
    def renamed(needs: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Give matplotlib its conda-forge name: that of the package without Qt."""
        return {("matplotlib-base" if name == "matplotlib" else name, version) for name, version in needs}

    def test_its_c_library_has_what_the_parts_need(self, variants: list[dict]) -> None:
        for one in variants:
            assert tuple(int(word) for word in one["variant"]["c_stdlib_version"].split(".")) >= (2, 35)

    def test_the_commands_that_it_tries_work(self, capsys: pytest.CaptureFixture[str]) -> None:
        commands = re.findall(r"- (numapredict .*)", (FOLDER / "conda/recipe.yaml").read_text())
        assert len(commands) == 2
        for command in commands:
            assert main(shlex.split(command)[1:]) == 0
        assert "sandybridge-4x8" in capsys.readouterr().out


class TestSpack:
    TREE = ast.parse((FOLDER / "spack/package.py").read_text())

    def directives(self, name: str) -> list[tuple[list, dict]]:
        """Return the arguments of each call of a directive in the package's class."""
        (package,) = (node for node in self.TREE.body if isinstance(node, ast.ClassDef))
        return [
            (
                [ast.literal_eval(value) for value in node.value.args],
                {word.arg: ast.literal_eval(word.value) for word in node.value.keywords},
            )
            for node in package.body
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.func.id == name
        ]

    def test_it_agrees(self) -> None:
        specs = {
            arguments[0]: words["type"] for arguments, words in self.directives("depends_on") if "@" in arguments[0]
        }
        expected = {f"py-{name}@{version}:": ("build", "run") for name, version in RUN}
        expected |= {f"py-{name}@{version}:": "build" for name, version in map(lowest, BUILD)}
        assert CMAKE
        expected |= {f"python@{PYTHON}:": ("build", "run"), f"cmake@{CMAKE[1]}:": "build"}
        assert specs == expected
        assert self.directives("version")[0][0] == [PROJECT["version"]]
        assert self.directives("license")[0][0] == [PROJECT["license"]]

    def test_it_takes_the_archive_that_is_made(self) -> None:
        assert f"/{PROJECT['name']}-{PROJECT['version']}.tar.gz" in (FOLDER / "spack/package.py").read_text()


class TestContainer:
    STAGES = re.split(r"^FROM ", (FOLDER / "Containerfile").read_text(), flags=re.MULTILINE)[1:]

    def test_it_has_what_the_readme_installs(self) -> None:
        readme = (ROOT / "README.md").read_text()
        said = re.search(r"apt-get install -y --no-install-recommends ([^&]*)&&", readme)
        assert said
        installed = [
            {word for line in re.findall(r"apt-get install -y --no-install-recommends ([^\\\n]*)", stage)
             for word in line.split()}
            for stage in self.STAGES
        ]  # fmt: skip
        assert set(said[1].split()) <= installed[0] | installed[1]
        to_build = {"cmake", "ninja-build", "python3-venv"}
        assert set(said[1].split()) - to_build <= installed[1], "what runs is in the second stage"

    def test_it_starts_the_command_that_is_installed(self) -> None:
        (command,) = PROJECT["scripts"]
        assert f'ENTRYPOINT ["{command}"]' in self.STAGES[1]
