"""What other packagers are given agrees with pyproject.toml, in versions, dependencies and commands."""

import ast
import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from numapredict.predictor.command_line.main import main

ROOT = Path(__file__).parents[3]
# What spack.package gives of spack.directives: spack.readthedocs.io/en/latest/_modules/spack/package.html (API v2.5).
DIRECTIVES = {
    *("build_system", "can_splice", "conditional", "conflicts", "depends_on", "extends", "license", "maintainers"),
    *("patch", "provides", "redistribute", "requires", "resource", "variant", "version"),
}
# Every look-up of a program in the sources: what is looked up, and the parts of recipes that have it; none of them
# where it is the system's, which their heads then say.
STARTED = {
    ("collect/campaign/cere.py", "COMMAND"): ("cere", ()),
    ("collect/measuring/counters/likwid/tool.py", "'likwid-accessD'"): ("likwid-accessD", ()),
    ("collect/measuring/counters/likwid/tool.py", "tool"): ("likwid-perfctr", ()),
    ("collect/measuring/samples/source.py", "'perf'"): ("perf", ()),
    ("collect/host/host.py", "_TOOL"): ("lstopo-no-graphics", ("libhwloc", "hwloc", "hwloc")),
    ("collect/placing/start.py", "start.numactl[0]"): ("numactl", ("numactl", "numactl", "numactl")),
    ("collect/modelled/tracing.py", "EMULATOR"): ("qemu-x86_64", ("", "", "qemu-user")),
    ("collect/modelled/tracing.py", "'setarch'"): ("setarch", ()),
    ("collect/source/demangling.py", "'c++filt'"): ("c++filt", ()),
}
USERS = {
    ("collect/placing/executable.py", "name"),
    ("predictor/command_line/mistyped.py", "first"),
}  # the user's own program
FOLDER = ROOT / ".packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]


def lowest(requirement: str) -> tuple[str, str]:
    """Return a requirement's name and lowest version: all of ours have this form."""
    parsed = Requirement(requirement)
    ((bound,)) = parsed.specifier
    assert bound.operator == ">="
    return parsed.name, bound.version


EXTRAS = PROJECT["optional-dependencies"]
RUN = {lowest(text) for text in (*PROJECT["dependencies"], *EXTRAS["learn"], *EXTRAS["figures"])}
PYTHON = PROJECT["requires-python"].removeprefix(">=")
PYTHONS = {text.rsplit(" ", 1)[1] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)}
CMAKE = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (ROOT / "native/CMakeLists.txt").read_text())


def test_all_pythons_that_are_promised_are_named() -> None:
    assert min(PYTHONS, key=lambda text: int(text.split(".")[1])) == PYTHON
    assert {"3.11", "3.12", "3.13"} == PYTHONS


def looked_up() -> set[tuple[str, str]]:
    """Return file and first argument of each call of shutil.which in the sources."""
    return {
        (str(source.relative_to(ROOT)), ast.unparse(node.args[0]))
        for folder in ("native", "collect", "predictor", "reports")
        for source in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"shutil.which", "which"}
    }


class TestPrograms:
    def test_every_program_that_is_looked_up_is_known(self) -> None:
        assert looked_up() == {*STARTED, *USERS}
        for (file, argument), (program, _) in STARTED.items():
            if argument.strip("_").isupper():
                module = importlib.import_module(f"numapredict.{file.removesuffix('.py').replace('/', '.')}")
                assert getattr(module, argument) == program
            else:
                assert f'"{program}"' in (ROOT / file).read_text() or program in {"likwid-perfctr", "numactl"}

    @pytest.mark.parametrize("at", range(3), ids=["conda", "spack", "container"])
    def test_each_is_in_a_package_or_said_to_be_the_systems(self, at: int) -> None:
        file = ("conda/recipe.yaml", "spack/package.py", "Containerfile")[at]
        text = (FOLDER / file).read_text()
        said = "\n".join(line for line in text.splitlines() if line.lstrip().startswith("#"))
        asked = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        for program, packages in STARTED.values():
            package = packages[at] if packages else ""
            if package:
                assert re.search(rf"(?<![\w-]){package}(?![\w-])", asked), f"{file} asks for no {package}"
            elif program != "likwid-accessD":  # comes with likwid-perfctr
                assert program in said, f"{file} does not say where {program} comes from"

    @pytest.mark.parametrize("file", ["conda/recipe.yaml", "spack/package.py"])
    def test_what_was_not_built_says_so(self, file: str) -> None:
        assert "Not built yet" in (FOLDER / file).read_text()


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
            assert needs == {*self.renamed(RUN), ("python", PYTHON), ("libhwloc", "2"), ("numactl",)}
            assert {lowest(text) for text in BUILD} <= {
                tuple(text.split(" >=")) for text in one["requirements"]["host"]
            }
            assert CMAKE
            assert f"cmake >={CMAKE[1]}" in one["requirements"]["build"]
            assert {"ninja", "git"} <= set(one["requirements"]["build"])
            assert {"python", "pip", "libnuma"} <= {text.partition(" ")[0] for text in one["requirements"]["host"]}

    def test_it_builds_the_checkout_with_pip(self) -> None:
        """As the recipe has it, since what is rendered names a shell and its files."""
        text = (FOLDER / "conda/recipe.yaml").read_text()
        (path,) = re.findall(r"^source:\n  path: (.*)$", text, re.MULTILINE)
        assert (FOLDER / "conda" / path).resolve() == ROOT
        (script,) = re.findall(r"^  script: (.*)$", text, re.MULTILINE)
        python, *words = script.replace("${{ PYTHON }}", "PYTHON").split()
        assert python == "PYTHON"
        # What pip itself makes of these words: a word that it does not know ends it.
        done = subprocess.run(
            [sys.executable, *words, "--dry-run", "--help"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert words[:4] == ["-m", "pip", "install", "."]
        assert {"--no-deps", "--no-build-isolation"} <= set(words)
        (file,) = re.findall(r"^  license_file: (.*)$", text, re.MULTILINE)
        assert (ROOT / file).is_file()

    @staticmethod
    def renamed(needs: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Give matplotlib its conda-forge name: that of the package without Qt."""
        return {("matplotlib-base" if name == "matplotlib" else name, version) for name, version in needs}

    def test_its_c_library_has_what_the_parts_need(self, variants: list[dict]) -> None:
        for one in variants:
            assert tuple(int(word) for word in one["variant"]["c_stdlib_version"].split(".")) == (2, 28)

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
        expected = {f"py-{name}@{version}:": "build" for name, version in map(lowest, BUILD)}
        expected |= {f"py-{name}@{version}:": ("build", "run") for name, version in RUN}
        assert CMAKE
        expected |= {f"python@{PYTHON}:": ("build", "run"), f"cmake@{CMAKE[1]}:": "build"}
        assert specs == expected
        assert self.directives("version")[0][0] == [PROJECT["version"]]
        assert self.directives("license")[0][0] == [PROJECT["license"]]

    def test_every_directive_is_one_of_spacks(self) -> None:
        (package,) = (node for node in self.TREE.body if isinstance(node, ast.ClassDef))
        calls = [node.value for node in package.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
        assert {ast.unparse(call.func) for call in calls} <= DIRECTIVES
        for call in calls:
            assert {word.arg for word in call.keywords} <= {"type", "msg", "when", "sha256"}, ast.unparse(call)
        assert [ast.unparse(base) for base in package.bases] == ["PythonPackage"]

    def test_it_has_what_is_built_with_and_called(self) -> None:
        wanted = {arguments[0]: words["type"] for arguments, words in self.directives("depends_on")}
        assert (wanted["c"], wanted["ninja"]) == ("build", "build")
        assert (wanted["hwloc"], wanted["numactl"]) == ("run", ("build", "link", "run"))
        assert [arguments[0] for arguments, _ in self.directives("requires")] == ["target=x86_64:", "platform=linux"]

    def test_it_takes_the_archive_that_is_made(self) -> None:
        assert f"/{PROJECT['name']}-{PROJECT['version']}.tar.gz" in (FOLDER / "spack/package.py").read_text()


class TestContainer:
    STAGES = re.split(r"^FROM ", (FOLDER / "Containerfile").read_text(), flags=re.MULTILINE)[1:]

    def test_it_has_what_a_fresh_debian_12_is_given(self) -> None:
        script = (FOLDER / "install").read_text()
        said, also = (
            re.search(r'^base="(.*)"$', script, re.M),
            re.search(r'^ *"debian 12"\)\n *base="\$base (.*?)"', script, re.M),
        )
        assert said
        assert also
        packages = {*said[1].split(), *also[1].split()}
        installed = [
            {word for line in re.findall(r"apt-get install -y --no-install-recommends ([^\\\n]*)", stage)
             for word in line.split()}
            for stage in self.STAGES
        ]  # fmt: skip
        assert packages <= installed[0] | installed[1]
        to_build = {"cmake", "libnuma-dev", "ninja-build", "python3-venv"}
        assert packages - to_build <= installed[1], "what runs is in the second stage"

    def test_what_is_copied_was_made(self) -> None:
        first, second = self.STAGES
        (name,) = re.findall(r"^\$\{BASE\} AS (\w+)$", first, re.MULTILINE)
        (made,) = re.findall(r"python3 -m venv (\S+)", first)
        assert f"{made}/bin/pip install" in first
        # An environment names its own folder in its scripts, so it goes where it was made.
        assert re.findall(r"^COPY --from=(\S+) (\S+) (\S+)$", second, re.MULTILINE) == [(name, made, made)]
        assert f'ENV PATH="{made}/bin:${{PATH}}"' in second
        (source,) = re.findall(r"^COPY \. (\S+)$", first, re.MULTILINE)
        assert re.findall(r"pip install (?:--\S+ )*(\S+)", first) == [f'"{source}[all]"']

    def test_it_starts_the_command_that_is_installed(self) -> None:
        (command,) = PROJECT["scripts"]
        assert f'ENTRYPOINT ["{command}"]' in self.STAGES[1]
