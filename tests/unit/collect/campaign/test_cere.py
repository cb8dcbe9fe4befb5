"""CERE's commands, by a stand-in that answers as CERE's manual pages say: CERE itself needs LLVM 3.9."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.campaign.cere import Cere
from numapredict.collect.campaign.request import CampaignRequest, prepare
from numapredict.native.errors import InvalidInputError, MissingNativePartError, UnrunnableProgramError, UsageError

STAND_IN = r"""#!/bin/sh
echo "$@" >> calls
[ -e fails ] && { echo "INFO something"; echo "ERROR no such luck" >&2; exit 3; }
[ -e cere.json ] || exit 9
case "$1" in
regions)
    cat > regions.csv <<'CSV'
Region Name,File Name,Original Location,Functions Name,Line,Self (%),Coverage (%)
__cere__bt_z_solve_12,z_solve,./z_solve.c,z_solve,12,30.5,31.5
__cere__bt_x_solve_9,x_solve,./x_solve.c,x_solve,9,40,41.5
__cere__bt_main_3,bt,./bt.c,main,3,0.2,0.4
CSV
    if [ "$2" = --static ]; then sed -i 's/,[0-9.]*,[0-9.]*$/,NA,NA/' regions.csv; fi
    ;;
capture) mkdir -p ".cere/dumps/${2#--region=}/${3#--invocation=}" ;;
replay)
    [ -d ".cere/dumps/${2#--region=}/${3#--invocation=}" ] || exit 4
    printf '#!/bin/sh\necho replayed %s in "$PWD" with "$@"\n' "${2#--region=}" > bin/bt
    ;;
esac
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tools, folder = tmp_path / "tools", tmp_path / "bt"
    for made in (tools, folder / "bin", folder / ".cere" / "profile"):
        made.mkdir(parents=True)
    stand_in = tools / "cere"
    stand_in.write_text(STAND_IN)
    application = folder / "bin" / "bt"
    application.write_text("#!/bin/sh\necho application\n")
    for file in (stand_in, application):
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    (folder / ".cere" / "profile" / "app.prof").touch()
    (folder / "cere.json").write_text(
        '{"run_cmd": "nice bin/bt \'A B\' -n 3", "build_cmd": "make", "clean_cmd": "true"}'
    )
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return folder


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines()


def test_regions_come_by_coverage(project: Path) -> None:
    assert [(region.name, region.file, region.coverage) for region in Cere(project).regions()] == [
        ("__cere__bt_x_solve_9", "x_solve", 41.5),
        ("__cere__bt_z_solve_12", "z_solve", 31.5),
        ("__cere__bt_main_3", "bt", 0.4),
    ]
    assert calls(project) == ["regions"]


def test_without_a_profile_regions_have_no_coverage(project: Path) -> None:
    (project / ".cere" / "profile" / "app.prof").unlink()
    assert {region.coverage for region in Cere(project).regions()} == {None}
    assert calls(project) == ["regions --static"]


def test_a_region_becomes_a_program_that_replays_it(project: Path) -> None:
    one, other = Cere(project).programs(("__cere__bt_z_solve_12", "__cere__bt_x_solve_9"), 2, 10)
    assert (one.name, one.group, one.directory) == ("bt:bt_z_solve_12", "cere:bt", str(project))
    assert one.command[1:] == ("A B", "-n", "3")
    for program, region in ((one, "__cere__bt_z_solve_12"), (other, "__cere__bt_x_solve_9")):
        said = subprocess.run(program.command, cwd=program.directory, capture_output=True, text=True, check=True).stdout
        assert said == f"replayed {region} in {project} with A B -n 3\n"
    flags = "--invitro-callcount=10 --norun --noinstrumentation --force"
    assert calls(project)[:2] == [
        "capture --region=__cere__bt_z_solve_12 --invocation=2",
        f"replay --region=__cere__bt_z_solve_12 --invocation=2 {flags}",
    ]


def test_what_was_captured_and_built_is_not_made_again(project: Path) -> None:
    first = Cere(project).programs(("__cere__bt_z_solve_12",), 1, 10)
    made = calls(project)
    assert Cere(project).programs(("__cere__bt_z_solve_12",), 1, 10) == first
    assert calls(project) == made


def test_a_campaign_takes_the_regions_that_take_time(project: Path, tmp_path: Path) -> None:
    request = CampaignRequest(machine="broadwell-2x10", cere_folders=(project,))
    names = [program.name for program in prepare(request, tmp_path / "campaign").programs]
    assert names == ["bt:bt_x_solve_9", "bt:bt_z_solve_12"]  # not the one of 0.4%
    request = CampaignRequest(
        machine="broadwell-2x10", cere_folders=(project,), regions=("__cere__bt_main_3",), commands=("/bin/true 1",)
    )
    names = [program.name for program in prepare(request, tmp_path / "campaign").programs]
    assert names == ["true 1", "bt:bt_main_3"]


def test_mistakes_get_one_line(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no region '__cere__nobody'"):
        prepare(
            CampaignRequest(machine="broadwell-2x10", cere_folders=(project,), regions=("__cere__nobody",)), tmp_path
        )
    (project / "fails").touch()
    with pytest.raises(UnrunnableProgramError, match=r"regions failed .* with 3: ERROR no such luck"):
        Cere(project).regions()
    (project / "cere.json").write_text('{"run_cmd": "\'open"}')
    with pytest.raises(InvalidInputError, match="run cere configure"):
        Cere(project)
    (project / "cere.json").write_text("[")
    with pytest.raises(InvalidInputError, match=r"cere\.json"):
        Cere(project)
    with pytest.raises(InvalidInputError, match="run cere configure in"):
        Cere(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingNativePartError, match="cere is not on the PATH"):
        Cere(project)


def test_a_run_command_without_a_file_gets_one_line(project: Path) -> None:
    (project / "cere.json").write_text('{"run_cmd": "mpirun bt"}')
    with pytest.raises(InvalidInputError, match="names no file"):
        Cere(project).programs(("__cere__bt_main_3",), 1, 10)
