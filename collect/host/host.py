"""The local computer: its topology as hwloc sees it, restricted to what this process may use."""

import math
import os
import re
import shutil
import subprocess
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.cgroup import CgroupFolder, levels, own_cgroup_folders
from numapredict.collect.host.hwloc import (
    MAX_SIZE_BYTES,
    CacheDetail,
    cache_details_from_xml,
    packages_from_xml,
    topology_from_xml,
)
from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.host.known_bandwidths import with_known_bandwidths
from numapredict.collect.index_list import parse_index_list
from numapredict.collect.topology import Topology, restrict
from numapredict.native.errors import InvalidTopologyError, MissingNativePartError

_TOOL = "lstopo-no-graphics"
_TIME_OUT_S = 60.0
_MAX_SYNTHETIC_PUS = 65_536
# hwloc(7), environment variables: each of these makes hwloc describe something else than this computer.
_SUBSTITUTES = ("HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS")
_V2_FILES = ("cpuset.cpus.effective", "cpuset.mems.effective")
_V1_FILES = ("cpuset.effective_cpus", "cpuset.effective_mems")


class Allowance(msgspec.Struct, frozen=True):
    """What a process may use, as OS indices; None where unrestricted."""

    pus: frozenset[int] | None = None
    memory_nodes: frozenset[int] | None = None

    def __and__(self, other: "Allowance") -> "Allowance":
        """Return what both allow."""
        return Allowance(_meet(self.pus, other.pus), _meet(self.memory_nodes, other.memory_nodes))


def host_topology() -> Topology:
    """Return the topology of this computer, or of what HWLOC_XMLFILE or HWLOC_SYNTHETIC describes instead.

    hwloc itself would silently fall back to this computer when either is wrong; here that is an error. The real
    computer is restricted to this process's affinity, cgroup cpuset and allowed memory nodes; it has the bandwidths
    that were measured on it. Raises
    InvalidTopologyError, and MissingNativePartError without hwloc's tool.
    """
    xml_file = os.environ.get("HWLOC_XMLFILE")
    synthetic = os.environ.get("HWLOC_SYNTHETIC")
    if xml_file:  # hwloc gives it precedence over HWLOC_SYNTHETIC
        return topology_from_file(Path(xml_file))
    if synthetic:
        return _synthetic_topology(synthetic)
    # Including what is not allowed, so that a node keeps its index when only its memory or its cores are not.
    topology = topology_from_xml(_lstopo("--disallowed"), "")
    if not describes_this_computer():
        return topology
    topology = with_known_bandwidths(topology)
    allowed = allowance(Path("/"))
    pus = {pu for node in topology.nodes for core in node.cores for pu in core.pus}
    memory_nodes = {node.os_index for node in topology.memory_nodes}
    own = restrict(
        topology,
        pus & os.sched_getaffinity(0) & (pus if allowed.pus is None else allowed.pus),
        memory_nodes if allowed.memory_nodes is None else memory_nodes & allowed.memory_nodes,
    )
    return own if own.bandwidths is not None else with_known_bandwidths(own)


def host_cache_details() -> tuple[CacheDetail, ...]:
    """Return what hwloc knows of this computer's caches in addition to the topology."""
    return cache_details_from_xml(_lstopo())


def host_packages() -> tuple[frozenset[int], ...]:
    """Return the PUs (OS indices) of each package of the computer that ``host_topology`` describes."""
    xml_file = os.environ.get("HWLOC_XMLFILE")
    synthetic = os.environ.get("HWLOC_SYNTHETIC")
    if xml_file:
        return packages_from_xml(read_bounded(Path(xml_file), MAX_SIZE_BYTES))
    return packages_from_xml(_lstopo("--if", "synthetic", "-i", synthetic) if synthetic else _lstopo("--disallowed"))


def describes_this_computer() -> bool:
    """Return whether ``host_topology`` describes this computer, not another machine that the environment names."""
    return not any(os.environ.get(name) for name in ("HWLOC_XMLFILE", "HWLOC_SYNTHETIC", *_SUBSTITUTES))


def topology_from_file(path: Path) -> Topology:
    """Return the topology in an hwloc XML file, named after it; raise InvalidTopologyError when that is not one."""
    try:
        data = read_bounded(path, MAX_SIZE_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidTopologyError(f"topology {str(path)!r} cannot be read: {reason}; name an hwloc XML file") from None
    return topology_from_xml(data, path.stem)


def allowance(root: Path) -> Allowance:
    """Return what /proc/self/status and this process's cgroup allow; in tests ``root`` replaces /."""
    return allowance_of_status(kernel_text(root / "proc/self/status")) & cpuset(root)


def cpuset(root: Path) -> Allowance:
    """Return what this process's control group alone allows."""
    allowed = Allowance()
    for folder in own_cgroup_folders(root, "cpuset"):
        allowed = allowed & _allowance_of_folder(root, folder)
    return allowed


def allowance_of_status(text: str) -> Allowance:
    """Return what the lines Cpus_allowed_list and Mems_allowed_list of /proc/PID/status allow."""
    lines = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return Allowance(_listed(lines.get("Cpus_allowed_list", "")), _listed(lines.get("Mems_allowed_list", "")))


def _synthetic_topology(description: str) -> Topology:
    """Return the topology that hwloc makes from a description such as "node:4 core:8 pu:1"."""
    levels = re.sub(r"\([^)]*\)|\[[^]]*\]", " ", description).split()
    counts = [int(match[1][:9]) for level in levels if (match := re.search(r"([0-9]+)$", level))]
    if math.prod(counts) > _MAX_SYNTHETIC_PUS:
        raise InvalidTopologyError(
            f"HWLOC_SYNTHETIC describes {math.prod(counts)} PUs; describe at most {_MAX_SYNTHETIC_PUS}"
        )
    return topology_from_xml(_lstopo("--if", "synthetic", "-i", description), "synthetic")


def _lstopo(*options: str) -> bytes:
    """Return the XML that hwloc's tool prints with some options."""
    tool = shutil.which(_TOOL)
    if tool is None:
        raise MissingNativePartError(f"{_TOOL} is not installed; install the Debian package hwloc")
    environment = {
        name: value for name, value in os.environ.items() if name not in ("HWLOC_XMLFILE", "HWLOC_SYNTHETIC")
    }
    try:
        result = subprocess.run(
            [tool, "--no-io", "--of", "xml", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIME_OUT_S,
            env=environment | {"LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InvalidTopologyError(f"{_TOOL} {' '.join(options)} did not end within {_TIME_OUT_S:.0f} s") from None
    except (OSError, ValueError) as error:
        raise InvalidTopologyError(f"{_TOOL} could not be run: {error}") from None
    if result.returncode != 0 or not result.stdout:
        said = result.stderr.decode(errors="replace").strip().splitlines()
        reason = said[0] if said else f"exit code {result.returncode}"
        raise InvalidTopologyError(f"{_TOOL} {' '.join(options)} found no topology: {reason}")
    return result.stdout


def _allowance_of_folder(root: Path, folder: CgroupFolder) -> Allowance:
    """Return what the cpuset of a cgroup allows, or of its nearest parent that has one."""
    for place in levels(root, folder):
        pus, memory_nodes = (
            _listed(kernel_text(place / file)) for file in (_V2_FILES if folder.version2 else _V1_FILES)
        )
        if pus is not None or memory_nodes is not None:
            return Allowance(pus, memory_nodes)
    return Allowance()


def _listed(text: str) -> frozenset[int] | None:
    """Return the numbers in a kernel's list, or None where it is empty or not one."""
    try:
        return parse_index_list(text) or None
    except ValueError:
        return None


def _meet(one: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    """Return the numbers in both; None means no restriction."""
    if one is None or other is None:
        return other if one is None else one
    return one & other
