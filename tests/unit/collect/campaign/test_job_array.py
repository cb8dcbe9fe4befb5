import subprocess

import pytest

from numapredict.collect.campaign.job_array import (
    JobArray,
    checked_time_limit,
    time_limit_for,
    without_options,
)
from numapredict.native.errors import UsageError

ARRAY = JobArray(shards=12, time_limit="1:30:00", cpus=None)
COMMAND = ("numapredict", "collect", "campaign", "--program", "app 'a b'", "--shards", "12", "--into", "my runs")


def options(script: str) -> list[str]:
    return [line.removeprefix("#SBATCH ") for line in script.splitlines() if line.startswith("#SBATCH ")]


def test_clocks_have_a_whole_node_to_themselves_and_models_their_processes() -> None:
    measured = options(ARRAY.script(COMMAND))
    assert {"--array=0-11", "--exclusive", "--mem=0", "--time=1:30:00", "--requeue"} <= set(measured)
    modelled = options(JobArray(shards=12, time_limit="90", cpus=4).script(COMMAND))
    assert {"--array=0-11", "--cpus-per-task=4", "--time=90"} <= set(modelled)
    assert not {"--exclusive", "--mem=0"} & set(modelled)


def test_the_script_runs_the_command_with_the_tasks_shard() -> None:
    script = ARRAY.script(("printf", "<%s>", *COMMAND)).replace("exec printf", "printf")
    done = subprocess.run(
        ["sh"], input=script, env={"SLURM_ARRAY_TASK_ID": "7"}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "".join(f"<{word}>" for word in (*COMMAND, "--shard", "7"))


@pytest.mark.parametrize("text", ["30", "30:00", "2:30:00", "1-12", "1-12:30", "1-12:30:00"])
def test_times_that_sbatch_takes(text: str) -> None:
    assert checked_time_limit(text) == text


@pytest.mark.parametrize("text", ["", "2h", "1:2:3:4", "30\n#SBATCH --wrap=x", "-1", "1-", "infinite"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--time-limit"):
        checked_time_limit(text)


@pytest.mark.parametrize(
    ("time_s", "limit"), [(0, "0:10:00"), (299, "0:10:00"), (1801, "1:01:00"), (50 * 3600, "100:00:00")]
)
def test_a_limit_is_twice_the_estimate_and_ten_minutes_at_least(time_s: float, limit: str) -> None:
    assert time_limit_for(time_s) == limit
    assert checked_time_limit(limit)


def test_options_go_with_their_values_however_they_are_written() -> None:
    words = ("collect", "--emit", "sbatch", "--into", "--emit", "--time-limit=5", "-v", "--emit=sbatch", "--emitter")
    assert without_options(words, ("--emit", "--time-limit")) == ("collect", "--into", "-v", "--emitter")
