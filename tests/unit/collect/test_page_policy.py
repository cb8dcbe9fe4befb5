import re
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.page_policy import EXPRESSIBLE, FACTS, PAGE_POLICIES, PagePolicy

NATIVE = Path(__file__).parents[3] / "native"
PLACEMENT = NATIVE / "placement"
HEADER = PLACEMENT / "process" / "settings.h"


def test_the_preload_library_knows_the_same_policies() -> None:
    listed = re.findall(r'^    X\((\w+), "([a-z-]+)", (true|false)\)', HEADER.read_text(encoding="utf-8"), re.MULTILINE)
    assert {word: by_accesses == "true" for _, word, by_accesses in listed} == {
        policy: facts.needs_profile for policy, facts in FACTS.items()
    }
    assert [name for name, _, _ in listed] == [word.upper().replace("-", "_") for _, word, _ in listed]


@pytest.mark.parametrize(("source", "switches"), [("pages", 2), ("next_touch", 1)])
def test_the_compiler_names_the_places_where_a_new_policy_is_missing(
    source: str, switches: int, tmp_path: Path
) -> None:
    """A copy of settings.h with a ninth policy must not compile silently, under the warnings of the build."""
    (warnings,) = re.findall(r"^add_compile_options\((.*)\)$", (NATIVE / "CMakeLists.txt").read_text(), re.MULTILINE)
    unit = PLACEMENT / "policy" / f"{source}.c"
    command = ["gcc", "-std=gnu11", *warnings.split(), "-fsyntax-only", f"-I{tmp_path}", f"-I{PLACEMENT}", str(unit)]
    subprocess.run(command, check=True)
    text = HEADER.read_text(encoding="utf-8")
    (tmp_path / "process").mkdir()
    (tmp_path / "process" / "settings.h").write_text(
        text.replace("    X(BIND,", '    X(NINTH, "ninth", true) X(BIND,', 1)
    )
    plain = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    refused = subprocess.run(command, check=False, capture_output=True, text=True, env=plain)
    assert len(re.findall("error: .*PAGES_NINTH.* not handled in switch", refused.stderr)) == switches


def test_every_policy_is_defined_once() -> None:
    assert tuple(FACTS) == PAGE_POLICIES
    assert len({facts.short for facts in FACTS.values()}) == len(FACTS)


@pytest.mark.parametrize("policy", PAGE_POLICIES)
def test_without_the_library_an_expressible_policy_comes_near(policy: PagePolicy) -> None:
    assert policy in EXPRESSIBLE or FACTS[policy].nearest in EXPRESSIBLE


@pytest.mark.parametrize("policy", PAGE_POLICIES)
def test_words_fill_their_blanks_alone(policy: PagePolicy) -> None:
    facts = FACTS[policy]
    words = (
        facts.sentence.format(nodes="2 nodes", there="there"),
        facts.on_node.format(share="1/2"),
        facts.own.format(served="node 0"),
        facts.shared.format(share="1/2"),
    )
    assert not any("{" in text or "}" in text for text in words)
    undecided = facts.decided_by in {"first writer", "accesses"}
    assert bool(facts.unknown) == bool(facts.own or facts.shared) == undecided
