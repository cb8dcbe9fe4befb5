from pathlib import Path

from numapredict.collect.host.packages import Package, packages


def write(root: Path, package_of: dict[int, str], node_lists: dict[int, str]) -> None:
    for pu, number in package_of.items():
        file = root / f"sys/devices/system/cpu/cpu{pu}/topology/physical_package_id"
        file.parent.mkdir(parents=True)
        file.write_text(number + "\n")
    for node, pus in node_lists.items():
        file = root / f"sys/devices/system/node/node{node}/cpulist"
        file.parent.mkdir(parents=True)
        file.write_text(pus + "\n")


def test_packages_hold_pus_and_nodes(tmp_path: Path) -> None:
    """Siblings are numbered far away, one node has memory alone, PU 10 is offline, and cpufreq is no PU."""
    write(tmp_path, {pu: "8" if pu in (2, 3, 11) else "0" for pu in (0, 1, 2, 3, 9, 11)}, {
        0: "0,9", 1: "1", 4: "2-3,10-11", 5: "", 6: "no list",
    })  # fmt: skip
    (tmp_path / "sys/devices/system/cpu/cpu10").mkdir()
    (tmp_path / "sys/devices/system/cpu/cpufreq").mkdir()
    assert packages(tmp_path) == (Package(0, (0, 1, 9), (0, 1)), Package(8, (2, 3, 11), (4,)))


def test_without_sysfs_or_its_word_there_are_none(tmp_path: Path) -> None:
    assert packages(tmp_path) == ()
    write(tmp_path, {0: "-1"}, {0: "0"})
    assert packages(tmp_path) == ()


def test_this_computers_packages_hold_all_its_pus() -> None:
    found = [pu for package in packages() for pu in package.pus]
    assert len(found) == len(set(found)) > 0
