"""Which tests notice a planted fault: random mutants of the product's Python code, each run against what reaches it.

First the tests run once under coverage.py with a context a test; then each mutant runs against those alone that reach
its line. A line of JSON a mutant tells which tests failed, so that what is lost without some can be asked afterwards.

    pytest -n 2 --cov=collect --cov=predictor --cov=reports --cov-context=test --cov-report= tests/unit
    python -m tests.benchmarks.mutants --into mutants.jsonl --number 100
"""

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

import click

FOLDERS = ("collect", "predictor", "reports")
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*"}
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "dist", ".*_cache", "__pycache__")


@dataclass(frozen=True)
class Mutant:
    """One change of one line: where, and what stands there instead."""

    path: str
    line: int
    before: str
    after: str
    source: str  # the whole file, changed


@dataclass(frozen=True)
class Verdict:
    """What the tests said of a mutant: ``tests`` reached its line, ``failed`` of them noticed."""

    path: str
    line: int
    before: str
    after: str
    tests: int
    failed: tuple[str, ...]
    timed_out: bool
    took_s: float


def replaced(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield what can stand for a node: the part that goes, and its new text."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            yield node, f"{ast.unparse(left)} {COMPARISONS[type(op)]} {ast.unparse(right)}"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            yield node, f"({ast.unparse(left)} {ARITHMETIC[type(op)]} {ast.unparse(right)})"
        case ast.BoolOp(op=op, values=values):
            yield node, "(" + (" or " if isinstance(op, ast.And) else " and ").join(map(ast.unparse, values)) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"bool({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield node, str(not value)
        case ast.Constant(value=int() | float() as value):
            yield node, f"({value!r} + 1)"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield node, f"({ast.unparse(orelse)} if {ast.unparse(test)} else {ast.unparse(body)})"
        case ast.If(test=test) | ast.While(test=test):
            yield test, f"not ({ast.unparse(test)})"
        case ast.Return(value=ast.expr()):
            yield node, "return None"
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield node, "pass"
        case ast.Continue() | ast.Break():
            yield node, "pass"


def mutants_of(path: str) -> list[Mutant]:
    """Return all mutants of a file, but those inside of annotations, decorators and f-strings."""
    text = Path(path).read_text(encoding="utf-8")
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    left_alone = set[int]()
    for node in ast.walk(tree):
        parts = [
            *getattr(node, "decorator_list", []),
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
        ]
        if isinstance(node, ast.JoinedStr):
            parts.append(node)
        left_alone |= {id(inner) for part in parts if part for inner in ast.walk(part)}
    found = []
    for node in ast.walk(tree):
        if id(node) in left_alone:
            continue
        for gone, instead in replaced(node):
            first = starts[gone.lineno - 1] + gone.col_offset
            last = starts[gone.end_lineno - 1] + gone.end_col_offset
            changed = (data[:first] + instead.encode() + data[last:]).decode()
            found.append(Mutant(path, gone.lineno, data[first:last].decode(), instead, changed))
    return found


def can_be_read(mutant: Mutant) -> bool:
    """Whether a mutant is still Python."""
    try:
        compile(mutant.source, mutant.path, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def reached(coverage_file: Path) -> dict[tuple[str, int], frozenset[str]]:
    """Return the tests that reach each line of the product, by a path relative to the tree."""
    import coverage

    data = coverage.CoverageData(str(coverage_file))
    data.read()
    tests: dict[tuple[str, int], frozenset[str]] = {}
    for name in data.measured_files():
        path = os.path.relpath(name, Path.cwd())
        lines = {
            line: frozenset(context.split("|")[0] for context in contexts if "::" in context)
            for line, contexts in data.contexts_by_lineno(name).items()
        }
        of_file = frozenset[str]().union(*lines.values())
        # What runs as the file is imported belongs to no test: all that reach the file may notice.
        tests |= {(path, line): found or of_file for line, found in lines.items()}
        tests[path, 0] = of_file
    return tests


def judge(mutant: Mutant, tests: frozenset[str], tree: Path, limit_s: float) -> Verdict:
    """Run the tests that reach a mutant in a tree of its own, and say which failed."""
    began = time.monotonic()
    output, timed_out = "", False
    if tests:
        file = tree / mutant.path
        kept = file.read_bytes()
        file.write_text(mutant.source, encoding="utf-8")
        names = tree / "tests-to-run.txt"
        names.write_text("\n".join(sorted(tests)))
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-o", "addopts=", "-rfE"]
        environment = os.environ | {"PYTHONPATH": f"{tree / '.import'}:{os.environ.get('PYTHONPATH', '')}"}
        try:
            run = subprocess.run(
                [*command, "-o", "filterwarnings=default", "--tb=no", f"@{names}"],
                cwd=tree, env=environment, capture_output=True, text=True, timeout=limit_s, check=False,
            )  # fmt: skip
            output = run.stdout + run.stderr
        except subprocess.TimeoutExpired:
            timed_out = True
        file.write_bytes(kept)
    failed = tuple(sorted(set(re.findall(r"^(?:FAILED|ERROR) (\S+?::.*?)(?: - .*)?$", output, re.MULTILINE))))
    if tests and not timed_out and not failed and " passed" not in output:
        failed = tuple(sorted(tests))  # it could not even be imported
    took_s = round(time.monotonic() - began, 2)
    return Verdict(mutant.path, mutant.line, mutant.before, mutant.after, len(tests), failed, timed_out, took_s)


@click.command()
@click.option("--coverage", "coverage_file", default=".coverage", show_default=True, type=click.Path(path_type=Path))
@click.option("--into", required=True, type=click.Path(path_type=Path), help="The file of verdicts; it is added to.")
@click.option("--number", default=100, show_default=True, help="Mutants at most.")
@click.option("--jobs", default=2, show_default=True)
@click.option("--seconds", default=3600.0, show_default=True, help="Start none after this time.")
@click.option("--limit", "limit_s", default=120.0, show_default=True, help="Seconds for the tests of one mutant.")
def main(coverage_file: Path, into: Path, number: int, jobs: int, seconds: float, limit_s: float) -> None:
    """Plant random faults and say which tests notice."""
    began = time.monotonic()
    paths = sorted(str(path) for folder in FOLDERS for path in Path(folder).rglob("*.py"))
    everything = [mutant for path in paths for mutant in mutants_of(path)]
    chosen = random.Random(1).sample(everything, min(number, len(everything)))  # noqa: S311 (not for secrets)
    tests = reached(coverage_file)
    trees: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, into.open("a") as file:
        for job in range(jobs):
            tree = Path(folder) / f"tree{job}"
            shutil.copytree(".", tree, symlinks=True, ignore=NOT_COPIED)
            trees.put(tree)

        def work(mutant: Mutant) -> None:
            if time.monotonic() - began > seconds or not can_be_read(mutant):
                return
            tree = trees.get()
            of_file = tests.get((mutant.path, 0), frozenset())
            verdict = judge(mutant, tests.get((mutant.path, mutant.line), of_file), tree, limit_s)
            trees.put(tree)
            file.write(json.dumps(asdict(verdict)) + "\n")
            file.flush()

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(work, chosen))
    click.echo(f"{len(everything)} mutants can be made of {len(paths)} files; verdicts are in {into}", err=True)


if __name__ == "__main__":
    main()
