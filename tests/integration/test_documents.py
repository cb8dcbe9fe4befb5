"""What the documents say stands in the code: commands, messages, tables, names, figures, links."""

import importlib
import re
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.mapping import THREAD_POLICIES
from numapredict.collect.modelled.campaign_time import campaign_time_s
from numapredict.collect.modelled.description import load_description, machine_names
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.collect.space import full_space
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.predictor.command_line.main import DONE, FAILED, INTERRUPTED, MISTAKE, READER_GONE
from numapredict.predictor.evaluation.evaluation_session import evaluate_datasets
from numapredict.predictor.learning.model_choice import named_model
from numapredict.reports.parts.held_out import shipped_data
from tests.golden.evaluations import measured
from tests.golden.evaluations.figures import FILE, OURS, Judged, judged
from tests.guide import (
    GUIDE,
    ROOT,
    documents,
    error_messages,
    is_message,
    made_datasets,
    messages_in_source,
    names_in_tables,
    quoted_code,
    quoted_commands,
    quoted_messages,
)
from tests.quoted_command import WrongCommandError, check_command, option_names

NAMES = [document.name for document in documents()]
OTHERS = ["../../README.md", "../../CONTRIBUTING.md", "../../models/machines/README.md"]
README = (ROOT / "README.md").read_text()
COMMANDS = (GUIDE / "commands.md").read_text()
TROUBLESHOOTING = (GUIDE / "troubleshooting.md").read_text()
DESCRIBED = {name: load_description(name) for name in machine_names()}

COUNTERS = ("collect/measuring/counters/", "collect/measuring/samples/")
"""Their errors are not in troubleshooting: the answer goes on without counters, and `doctor` says what to do."""

# The other sources of errors that troubleshooting quotes no message of, and why.
UNNAMED = {
    "collect/binding.py": "as placement.py has it",
    "collect/campaign/campaign.py": "the line says what to do",
    "collect/campaign/cere.py": "the line says what to install or to run",
    "collect/campaign/characterisation/plan.py": "the line says which numbers fit",
    "collect/campaign/codelets.py": "the line names the codelets",
    "collect/campaign/dask_scheduler.py": "the line says what to install or to start",
    "collect/campaign/dask_workers.py": "the line says which worker, and what to do",
    "collect/campaign/job_array.py": "the line says which times sbatch takes",
    "collect/campaign/listed_regions.py": "the line says how to write the file",
    "collect/campaign/merging.py": "the line says what to merge too, or which folder to name",
    "collect/placing/adapt_table.py": "a file of the library's own, in a folder that ends with the run",
    "collect/figure.py": "the line says what the pattern lacks",
    "collect/limits.py": "the line says what there is",
    "predictor/advising/described_baseline.py": "the line says how many threads there are",
    "predictor/adapting/columns.py": "the program is left alone, and the line says why",
    "predictor/adapting/session.py": "the line says what to leave out or to name",
    "collect/campaign/plan.py": "two programs of one name: the line says all",
    "collect/campaign/shard.py": "the line says which shards there are",
    "collect/campaign/shard_journals.py": "the line says what to collect again",
    "collect/campaign/sharded_campaign.py": "another version: the line says what to do",
    "collect/campaign/workers.py": "a worker died: the line says what to do",
    "collect/data/dataset_store.py": "a store: the line says what to name, to install or to look at",
    "collect/data/foreign_table.py": "the line names the row, or the columns and mappings",
    "collect/data/recorded_machine.py": "for those who use datasets as machines, from Python",
    "collect/describing/measure.py": "the line says which variables to unset",
    "collect/describing/sample.py": "other programs took the memory meanwhile: the line says what to free",
    "collect/fidelity/bench.py": "for those who add published figures of a machine",
    "collect/host/hwloc.py": "a topology file that hwloc did not export",
    "collect/measuring/repetitions.py": "a note of a dataset that somebody changed",
    "collect/modelled/modelled_machine.py": "as exit_code.py has it",
    "collect/modelled/routes.py": "stands below 'machine description'",
    "collect/modelled/trace.py": "a damaged trace: the line says to remove it",
    "collect/modelled/trace_store.py": "says to remove the file",
    "collect/page_placement.py": "a trace that fits no mapping: only other code of ours can bring it about",
    "collect/placing/executable.py": "the line says what to name or to do",
    "collect/placing/mapping_here.py": "the line says which mapping to name",
    "collect/placing/tools/of_ranks.py": "the line says what does it exactly",
    "collect/rank_share.py": "the line says how many threads to take",
    "collect/placing/placed_pages.py": "what our own preload library wrote is damaged",
    "collect/placing/placed_run.py": "the line says what to name",
    "collect/placing/reported_run.py": "two things for `run` to write into one file",
    "collect/placing/process.py": "what the system says of a program that it cannot start",
    "collect/placing/profile_file.py": "says what makes such a file",
    "collect/placing/run_file.py": "another thing than a file named for `run` to write",
    "collect/program.py": "an empty command, or one that is not text",
    "collect/space.py": "the line names the subsets",
    "collect/terminal/program_words.py": "the line says what to type",
    "collect/topology.py": "stands below 'machine description' or the name of a file",
    "native/library.py": "the line has the commands that build it",
    "predictor/advising/emitted_command.py": "names the nearest command of the tool",
    "predictor/advising/last_advice.py": "says to ask or to name a mapping",
    "predictor/advising/search.py": "says what the program said",
    "predictor/advising/thesis_method.py": "a probe that fails, which its run has said",
    "predictor/advising/search_options.py": "says what to leave out",
    "predictor/advising/session.py": "names the options that exclude each other",
    "predictor/evaluation/fleet_session.py": "a fleet without datasets of ours: the line says what to collect",
    "predictor/advising/unknown.py": "says what an unknown answer says, which is there",
    "predictor/api/asking.py": "the line says which argument is of another type",
    "predictor/api/quiet.py": "what the system says, to those who ask from Python",
    "predictor/api/finding.py": "says what `run` said",
    "predictor/api/own_process.py": "says what `run` said",
    "predictor/command_line/extras.py": "the line says what to install",
    "predictor/command_line/mistyped.py": "the line says what to type",
    "predictor/evaluation/budget_curve.py": "a dataset that is too small for this figure",
    "predictor/evaluation/explanation_check.py": "a dataset that this report cannot judge by",
    "predictor/evaluation/similarity.py": "a dataset that is too small for this figure",
    "predictor/evaluation/thesis.py": "a dataset without what the thesis reads",
    "predictor/learning/budget.py": "the line says which budget",
    "predictor/learning/dataset_gains.py": "training on foreign mappings is refused before",
    "predictor/learning/datasets.py": "the line names the datasets",
    "predictor/learning/train.py": "names the option",
    "predictor/regions/session.py": "the line says what to do",
    "predictor/searching/gains_file.py": "a damaged file of known gains: the line says what to do",
    "predictor/searching/prior.py": "an installation without its file of known gains",
    "predictor/variables/plan_gain.py": "becomes a remark of the answer",
    "predictor/variables/planning.py": "names the file that cannot be written",
    "predictor/variables/timing.py": "becomes a remark of the answer",
    "predictor/variables/tiers.py": "says that the machine has no nodes of memory alone",
    "predictor/variables/variable_plan.py": "names the variables that there are",
    "reports/answers/check.py": "the line says what the advice was",
    "reports/answers/compare.py": "the line says which answers to name",
    "reports/answers/open_advice.py": "says what writes such a file",
    "reports/clustermap.py": "a dataset that this figure cannot show",
    "reports/cli.py": "the line says what to type",
    "reports/commands/sweeps.py": "a dataset without what the thesis reads",
    "reports/figure_file.py": "the line says which endings there are",
    "reports/parts/answer_file.py": "stands below 'is neither a model nor an answer'",
    "reports/parts/advice_consistency.py": "stands below 'is neither a model nor an answer'",
    "reports/parts/contents.py": "the answer keeps the program as it is: the line says all",
    "reports/parts/held_out.py": "says what writes such a file",
    "reports/parts/page.py": "the line says which ending there is",
    "reports/parts/replays_file.py": "the line says which file to name",
    "reports/parts/replays_consistency.py": "stands in the line of replays_file.py",
    "reports/parts/topology.py": "the line has the command for the other machine",
    "reports/parts/variables_consistency.py": "stands below 'is neither a model nor an answer'",
    "reports/placed_mapping.py": "the line names the policies",
}


class TestCommands:
    @pytest.mark.parametrize("name", [*NAMES, *OTHERS])
    def test_every_quoted_command_is_valid(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        text = (GUIDE / name).read_text()
        reported = list(quoted_commands(text))
        for line, whole in reported:
            check_command(line, made_datasets(text), whole=whole)
        assert reported or name in {"method.md", "architecture.md", "api.md"}

    @pytest.mark.parametrize("name", [*NAMES, "../../README.md"])
    def test_every_option_that_is_named_exists(self, name: str) -> None:
        of_others = {"--cap-add", "--check"}  # docker's and the codelets'
        named = [re.match(r"--[\w-]+", code) for code in quoted_code((GUIDE / name).read_text())]
        assert {match[0] for match in named if match} <= option_names() | of_others

    @pytest.mark.parametrize(
        "wrong",
        [
            "numapredict train --bugdet 15%",
            "numapredict train --budget much%",
            "numapredict --budget lots ./app",
            "numapredict collect nothing",
            "numapredict collect import FILE.csv --into FOLDER",
            "numapredict --emit gdb ./app",
            "numapredict run LABEL --emit",
            "numapredict run --emit",
            "numapredict run --mapping 16x2-contiguous-balanse -- ./app",
            "numapredict report clustermp",
            "numapredict evaluate broadwell",
            "numapredict topology --machine sandybridge",
            "numapredict schema evaluat",
            "numapredict topologi --list",
        ],
    )
    def test_one_that_would_not_is_seen(self, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(WrongCommandError):
            check_command(wrong)

    def test_only_what_is_whole_stands_in_a_block(self) -> None:
        check_command("numapredict run --verify")
        with pytest.raises(WrongCommandError, match="Missing"):
            check_command("numapredict run --verify", whole=True)


class TestMessages:
    def test_every_quoted_message_is_in_the_source(self) -> None:
        said = messages_in_source()
        quoted = quoted_messages(TROUBLESHOOTING)
        assert quoted
        assert [message for message in quoted if not any(is_message(message, text) for text in said)] == []

    def test_every_source_of_errors_is_named_or_excused(self) -> None:
        quoted = quoted_messages(TROUBLESHOOTING)
        unnamed = {
            source
            for source, texts in error_messages().items()
            if not source.startswith(COUNTERS)
            and not any(is_message(message, text) for message in quoted for text in texts)
        }
        assert unnamed == set(UNNAMED)


class TestTables:
    @pytest.mark.parametrize(
        ("name", "kind", "what", "names"),
        [(name, *table) for name in NAMES for table in names_in_tables((GUIDE / name).read_text())],
    )
    def test_tables_of_fields_are_those_of_the_records(self, name: str, kind: str, what: str, names: list[str]) -> None:
        module, _, record = what.partition(":")
        found = getattr(importlib.import_module(module), record)
        there = found.names if kind == "columns" else found.__struct_encode_fields__  # as on disk
        assert sorted(names) == sorted(there), f"{name}: {what}"

    def test_the_exit_codes_that_are_told_are_the_commands(self) -> None:
        said = dict(re.findall(r"^\| (\d+) \| (\w+(?: \w+)?)", COMMANDS, re.MULTILINE))
        words = {
            DONE: "done",
            FAILED: "failed",
            MISTAKE: "usage error",
            INTERRUPTED: "interrupted",
            READER_GONE: "broken pipe",
        }
        assert {
            int(code): next(w for w in words.values() if text.startswith(w)) for code, text in said.items()
        } == words
        assert re.findall(r"exit code (\d+)", TROUBLESHOOTING)[:1] == [str(MISTAKE)]

    def test_the_policies_that_are_told_are_those_that_there_are(self) -> None:
        head, _, rows = COMMANDS.partition("| thread policy | | page policy | |\n")
        assert head != COMMANDS
        cells = [[cell.strip() for cell in row.split("|")] for row in rows.partition("\n\n")[0].splitlines()[1:]]
        assert [row[1] for row in cells if row[1]] == list(THREAD_POLICIES)
        assert sorted(name for row in cells for name in row[3].split(", ")) == sorted(PAGE_POLICIES)

    @pytest.mark.parametrize("name", [*NAMES, *OTHERS])
    def test_variables_are_those_that_are_read(self, name: str) -> None:
        sources = [
            *(ROOT / "collect").rglob("*.py"),
            *(ROOT / "predictor").rglob("*.py"),
            *(ROOT / "tests/guest").glob("*.py"),
        ]
        sources += [ROOT / ".ci/run", ROOT / "tests/conftest.py"]
        read = {found for file in sources for found in re.findall(r"\bNUMAPREDICT_[A-Z_]+", file.read_text())}
        assert set(re.findall(r"\bNUMAPREDICT_[A-Z_]+", (GUIDE / name).read_text())) <= read


class TestMachines:
    """What README and the guide say of described machines follows from their descriptions."""

    def time_s(self, name: str) -> float:
        """Return what `train --machine NAME --dry-run` estimates while no trace is there."""
        machine = DESCRIBED[name]
        space = full_space(machine.topology)
        teams = {(mapping.threads, mapping.threads_per_core) for mapping in space}
        each_s = campaign_time_s([threads for threads, _ in teams], space, len(machine.nodes))
        return each_s * len(codelet_programs())

    def test_campaigns_take_the_times_that_a_dry_run_estimates(self) -> None:
        with_models = {path.stem for path in (ROOT / "models").glob("*.json")}
        assert with_models
        assert with_models < DESCRIBED.keys()
        first, *_, last = sorted(DESCRIBED.keys() - with_models, key=self.time_s)
        said = f"{in_words(self.time_s(first))} ({first}) to {in_words(self.time_s(last))} ({last}) of one core"
        assert said in " ".join(README.split())
        retraining = " ".join((GUIDE / "retraining.md").read_text().split())
        for name, words in (("opteron-4x4", "{} of one core"), ("rome-2x64", "{} ({})"), ("rome-8x16", "{} ({})")):
            assert words.format(in_words(self.time_s(name)), name) in retraining

    def test_no_smt_leaves_out_the_share_that_is_said(self) -> None:
        shares = {}
        for name, machine in DESCRIBED.items():
            space = full_space(machine.topology)
            shares[name] = sum(mapping.threads_per_core > 1 for mapping in space) / len(space)
        least, most = (f"{shares[name]:.0%} ({name})" for name in ("rome-1x64", "rome-8x16"))
        assert f"{least} to {most} of the runs" in " ".join((GUIDE / "retraining.md").read_text().split())
        two = [round(share, 2) for share in shares.values() if share]
        assert (min(two), max(two)) == (round(shares["rome-1x64"], 2), round(shares["rome-8x16"], 2))

    def test_limits_names_the_machines_with_turbo(self) -> None:
        *most, last = sorted(name for name, machine in DESCRIBED.items() if machine.turbo_GHz)
        limits = " ".join((GUIDE / "limits.md").read_text().split())
        assert f"Turbo is described for {', '.join(most)} and {last}." in limits


class TestFigures:
    """What README and quality.md say of held-out programs is what evaluations have found."""

    GOLDEN = msgspec.json.decode(FILE.read_bytes(), type=dict[str, Judged])

    def test_the_readmes_table_is_theirs(self) -> None:
        for machine, found in self.GOLDEN.items():
            (row,) = re.findall(rf"^\| {machine} \((.*)\|$", README, re.MULTILINE)
            assert re.findall(r"\d+(?:\.\d+)?", row) == found.row

    @pytest.mark.parametrize("machine", GOLDEN)
    def test_the_evaluation_that_ships_with_a_model_is_theirs(self, machine: str) -> None:
        model = named_model(machine).model
        shipped = shipped_data(machine, model)
        assert shipped is not None
        assert judged(shipped.evaluation) == self.GOLDEN[machine]
        other = msgspec.structs.replace(model, dataset_created="")
        assert shipped_data(machine, other) is None

    def test_quality_has_their_intervals_and_sums(self) -> None:
        text = " ".join((GUIDE / "quality.md").read_text().split())
        for machine, found in self.GOLDEN.items():
            low, high = found.scores[OURS].interval
            assert f"{low:.2f} to {high:.2f} on {machine}" in text
        *most, last = (f"{found.scores['search of 2 runs'].gain_captured:.2f}" for found in self.GOLDEN.values())
        assert f"Two runs (`--runs 2`) capture {', '.join(most)} and {last}" in README
        runs, faster, stated, within = (
            sum(getattr(found, name) for found in self.GOLDEN.values())
            for name in ("runs", "faster", "stated", "within")
        )
        assert f"Of {runs} further runs" in text
        assert f"{within} came out within the interval that should hold {0.9 * runs:.0f}" in text
        assert f"{faster} beat the best so far, where {stated:.0f} were expected" in text

    MEASURED = msgspec.json.decode(measured.FILE.read_bytes(), type=dict[str, dict[str, measured.Measured]])

    @pytest.mark.parametrize("machine", measured.DEFAULTS)
    def test_quality_says_what_programs_of_one_code_base_add_to_measured_figures(self, machine: str) -> None:
        apart, together = (self.MEASURED[machine][name] for name in ("apart", "together"))
        cells = [
            f"{score.gain_captured:.2f}" + (f" ({score.interval[0]:.2f} to {score.interval[1]:.2f})" if ours else "")
            for found in (apart, together)
            for ours, score in (
                (True, found.scores[OURS]),
                (False, found.scores["search of 2 runs"]),
                (False, found.scores["fixed"]),
            )
        ]
        row = f"| {machine} | {' | '.join(cells)} |"
        quality = (GUIDE / "quality.md").read_text()
        assert row in quality
        assert f"{apart.groups} groups" in quality
        assert f"{together.groups} groups" in quality

    @pytest.mark.shared
    def test_measured_figures_of_today_are_the_same(self) -> None:
        assert measured.measured("lpd48core") == self.MEASURED["lpd48core"]

    @pytest.mark.thorough
    def test_an_evaluation_of_today_finds_the_same(self) -> None:
        (today,) = evaluate_datasets(("broadwell-2x10",)).datasets
        assert judged(today).row == self.GOLDEN["broadwell-2x10"].row


class TestLinks:
    @pytest.mark.parametrize("name", [*NAMES, *OTHERS])
    def test_links_lead_somewhere(self, name: str) -> None:
        document = (GUIDE / name).resolve()
        for target in re.findall(r"\]\(([^)]+)\)", document.read_text()):
            if target.startswith("https://"):
                continue
            path, _, anchor = target.partition("#")
            file = document.parent / path if path else document
            assert file.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
                slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
                assert anchor in slugs, target

    def test_the_readme_links_every_document(self) -> None:
        for name in NAMES:
            assert f"(reports/guide/{name})" in README


def test_the_architecture_names_every_package_of_collect_and_predictor_and_nothing_else() -> None:
    section = (GUIDE / "architecture.md").read_text()
    tops = "collect|predictor|reports|native|training_data|models"
    named = set(re.findall(rf"`((?:{tops})/[a-z_/]*)`", section))
    assert [path for path in named if not (ROOT / path).is_dir()] == []
    packages = {path.parent for top in ("collect", "predictor") for path in (ROOT / top).glob("*/__init__.py")}
    assert {f"{package.relative_to(ROOT)}/" for package in packages} <= named
