"""A campaign to be killed: replays a dataset slowly, and notes in ``calls`` whenever it begins a run."""

import resource
import sys
import time
from pathlib import Path

from numapredict.collect.campaign.campaign import Campaign, Options
from numapredict.collect.campaign.shard import Shard
from numapredict.collect.campaign.sharded_campaign import ShardedCampaign
from numapredict.collect.data.dataset import read_dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.collect.terminal.terminal import Terminal
from numapredict.native.errors import NumapredictError


class SlowMachine(RecordedMachine):
    """Takes a moment for each run."""

    pause_s = 0.003

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Note the call, wait, and replay."""
        with Path("calls").open("a") as file:
            file.write(f"{program.name} {mapping.label}\n")
        time.sleep(self.pause_s)
        return super().run(program, mapping)


def main() -> int:
    """Run the campaign, or a shard of it.

    Arguments: the dataset to replay, the folder, the jobs, a limit for files in bytes, the shard's number and count.
    """
    dataset = read_dataset(Path(sys.argv[1]))
    jobs, limit_bytes = int(sys.argv[3]), int(sys.argv[4])
    if limit_bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    mappings = tuple(dict.fromkeys(m.mapping for m in dataset.measurements))
    machine, folder, options = SlowMachine(dataset), Path(sys.argv[2]), Options(jobs=jobs)
    campaign = Campaign(machine, folder, dataset.programs, mappings, "slow", options)
    if len(sys.argv) > 5:
        shard = Shard(int(sys.argv[5]), int(sys.argv[6]))
        own = shard.programs_of(dataset.programs)
        campaign = ShardedCampaign(machine, folder, own, mappings, "slow", options, shard=shard)
    try:
        with Terminal(sys.stderr).attached():
            campaign.run()
        campaign.finish()
    except NumapredictError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a program of its own
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
