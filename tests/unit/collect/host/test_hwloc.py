"""hwloc's XML: captured topologies with their expected results, every part of the format, and hostile files."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.collect.host import hwloc
from numapredict.collect.host.hwloc import CacheDetail, cache_details_from_xml, topology_from_xml
from numapredict.collect.space import default_mapping
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidTopologyError

MACHINES = Path(__file__).parents[3] / "machines"
NAMES = sorted(path.stem for path in MACHINES.glob("*.xml"))


def read(name: str) -> Topology:
    return topology_from_xml((MACHINES / f"{name}.xml").read_bytes(), name)


def test_there_are_at_least_eight_machines_and_each_has_its_result() -> None:
    assert len(NAMES) >= 8
    assert sorted(path.stem for path in MACHINES.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_captured_topology_is_read_as_expected(name: str) -> None:
    expected: dict[str, Any] = json.loads((MACHINES / f"{name}.json").read_text())
    topology = read(name)
    assert topology.name == name
    assert [node.index for node in topology.nodes] == list(range(len(expected["nodes"])))
    assert [
        {
            "os_index": node.os_index,
            "memory_bytes": node.memory_bytes,
            "cores": [list(core.pus) for core in node.cores],
        }
        for node in topology.nodes
    ] == expected["nodes"]
    assert [core.index for node in topology.nodes for core in node.cores] == list(range(topology.core_count))
    kinds = [core.kind for node in topology.nodes for core in node.cores]
    assert kinds == expected.get("kinds", [0] * topology.core_count)
    caches = sorted((c.level, c.size_bytes, c.line_bytes, list(c.cores)) for c in topology.caches)
    assert caches == sorted((c["level"], c["size_bytes"], c["line_bytes"], c["cores"]) for c in expected["caches"])
    assert [list(row) for row in topology.distances] == expected["distances"]
    assert [topology.home(node.index) for node in topology.nodes] == expected["homes"]
    assert default_mapping(topology).label == expected["default"]


@pytest.mark.skipif(shutil.which("hwloc-calc") is None, reason="hwloc's tools are not installed")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("restricted", "two-memories")])
def test_hwloc_itself_agrees_on_nodes_and_pus(name: str) -> None:
    # Not the two where numapredict goes further: it applies the allowed sets, and gives shared cores to one node.
    def calc(*arguments: str) -> list[int]:
        command = ["hwloc-calc", "-i", str(MACHINES / f"{name}.xml"), "--physical-output", *arguments]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        return [int(number) for number in output.split(",") if number]

    topology = read(name)
    assert [node.os_index for node in topology.nodes] == calc("--intersect", "NUMANode", "--nodeset", "root")
    for node in topology.nodes:
        assert sorted(pu for core in node.cores for pu in core.pus) == sorted(
            calc("--intersect", "PU", f"NUMANode:{node.index}")
        )


PU0 = '<object type="PU" os_index="0" cpuset="0x1" complete_nodeset="0x1"/>'
PU1 = '<object type="PU" os_index="1" cpuset="0x2" complete_nodeset="0x2"/>'
NODE0 = '<object type="NUMANode" os_index="0" cpuset="0x1" local_memory="64"/>'
NODE1 = '<object type="NUMANode" os_index="1" cpuset="0x2" local_memory="64"/>'


def xml(objects: str = PU0 + NODE0, after: str = "", machine: str = "") -> bytes:
    """Return a small topology of these objects."""
    return f'<topology version="2.0"><object type="Machine" {machine}>{objects}</object>{after}</topology>'.encode()


def distances(indices: str, values: str, kind: str = "5", kind_of_object: str = "NUMANode") -> str:
    """Return a table as hwloc 2 writes it."""
    return (
        f'<distances2 type="{kind_of_object}" nbobjs="2" kind="{kind}" indexing="os">'
        f"<indexes>{indices}</indexes><u64values>{values}</u64values></distances2>"
    )


def test_the_smallest_topology() -> None:
    topology = topology_from_xml(xml(), "tiny")
    assert topology.core_count == 1
    assert topology.nodes[0].memory_bytes == 64
    assert topology.distances == ((10.0,),)


def test_an_empty_name_becomes_the_processors() -> None:
    info = '<info name="CPUModel" value="Some   Processor\n 9000"/>'
    assert topology_from_xml(xml(info + PU0 + NODE0), "").name == "Some Processor 9000"
    assert topology_from_xml(xml(), "").name == "unnamed"


def test_pus_without_a_core_object_are_their_own_cores() -> None:
    topology = topology_from_xml(xml(PU0 + PU1 + NODE0.replace("0x1", "0x3")), "flat")
    assert [core.pus for core in topology.nodes[0].cores] == [(0,), (1,)]


def test_a_memory_behind_a_package_does_not_take_the_cores_of_the_nodes_in_it() -> None:
    wide = '<object type="NUMANode" os_index="0" cpuset="0x3" local_memory="8"/>'
    groups = [NODE0.replace('os_index="0"', 'os_index="2"') + PU0, NODE1 + PU1]
    inside = "".join(f'<object type="Group">{group}</object>' for group in groups)
    topology = topology_from_xml(xml(wide + inside), "behind")
    assert [(node.os_index, [core.pus for core in node.cores]) for node in topology.nodes] == [
        (2, [(0,)]),
        (1, [(1,)]),
        (0, []),
    ]


def test_pus_whose_node_is_hidden_form_a_node_without_memory() -> None:
    # With a cpuset that allows node 0's memory alone, hwloc leaves node 1 out and keeps its PUs.
    topology = topology_from_xml(xml(PU0 + PU1 + NODE0), "hidden")
    assert [(node.os_index, len(node.cores), node.memory_bytes) for node in topology.nodes] == [(0, 1, 64), (1, 1, 0)]
    assert topology.home(1) == 0


def test_a_node_with_neither_cores_nor_memory_is_left_out() -> None:
    empty = '<object type="NUMANode" os_index="1" cpuset="0x0"/>'
    assert len(topology_from_xml(xml(PU0 + NODE0 + empty), "offline").nodes) == 1


def test_allowed_sets_restrict_and_may_leave_nothing() -> None:
    objects = PU0 + PU1 + NODE0 + NODE1
    topology = topology_from_xml(xml(objects, machine='allowed_cpuset="0x2" allowed_nodeset="0x1"'), "allowed")
    assert [(node.os_index, len(node.cores), node.memory_bytes) for node in topology.nodes] == [(0, 0, 64), (1, 1, 0)]
    with pytest.raises(InvalidTopologyError, match="no NUMA node has a usable core"):
        topology_from_xml(xml(objects, machine='allowed_cpuset="0x0"'), "nothing")


def test_caches_keep_data_and_lose_instructions_memory_sides_and_unknown_sizes() -> None:
    caches = "".join(
        f'<object type="{kind}" cpuset="0x1" depth="{depth}" {rest}/>'
        for kind, depth, rest in [
            ("L1Cache", 1, 'cache_size="32768" cache_linesize="128" cache_type="1"'),
            ("L1iCache", 1, 'cache_size="32768" cache_type="2"'),
            ("L2Cache", 2, 'cache_size="65536" cache_type="0"'),
            ("L3Cache", 3, 'cache_size="0" cache_type="0"'),
            ("L4Cache", 4, 'cache_size="99999" cache_type="0" subtype="MemorySideCache"'),
            ("Cache", 5, 'cache_size="5000" cache_type="0"'),
            ("Cache", 5, 'cache_size="6000" cache_type="2"'),
        ]
    )
    topology = topology_from_xml(xml(caches + PU0 + NODE0), "caches")
    assert sorted((c.level, c.size_bytes, c.line_bytes) for c in topology.caches) == [
        (1, 32768, 128),
        (2, 65536, 64),
        (5, 5000, 64),
    ]


def test_a_memory_side_cache_may_hold_the_node() -> None:
    assert topology_from_xml(xml(f'{PU0}<object type="MemCache" cpuset="0x1">{NODE0}</object>'), "side").core_count == 1


def test_distances_follow_os_indices_and_are_scaled_to_local_10() -> None:
    objects = PU0 + PU1 + NODE0.replace('os_index="0"', 'os_index="4"') + NODE1
    # Bandwidths (kind 9) and tables of other objects are no distances; long tables come in pieces.
    after = distances("1 4", "1 2 3 4", kind="9") + distances("0 1", "1 2 3 4", kind_of_object="PU")
    after += distances("1 </indexes><indexes>4", "200 420</u64values><u64values>840 200")
    topology = topology_from_xml(xml(objects, after), "distances")
    assert [node.os_index for node in topology.nodes] == [4, 1]
    assert topology.distances == ((10.0, 42.0), (21.0, 10.0))


def test_distances_of_hwloc_1_are_found_by_the_depth_of_the_nodes() -> None:
    def table(depth: int, remote: str) -> str:
        values = "".join(f'<latency value="{value}"/>' for value in ("1.0", remote, remote, "1.0"))
        return f'<distances nbobjs="2" relative_depth="{depth}" latency_base="10.0">{values}</distances>'

    objects = table(2, "7.0") + table(1, "2.1")
    objects += NODE0.replace("/>", f">{PU0}</object>") + NODE1.replace("/>", f">{PU1}</object>")
    assert topology_from_xml(xml(objects), "old").distances == ((10.0, 21.0), (21.0, 10.0))


BOMB = (
    '<!DOCTYPE topology [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<topology><object type="&b;"/></topology>'
)
EXTERNAL = (
    '<!DOCTYPE topology [<!ENTITY a SYSTEM "file:///etc/passwd">]><topology><object type="x">&a;</object></topology>'
)
PARAMETER = '<!DOCTYPE topology [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><topology/>'
HOSTILE = {
    "entity bomb": (BOMB.encode(), "entities"),
    "external entity": (EXTERNAL.encode(), "entities"),
    "parameter entity": (PARAMETER.encode(), "entities"),
    "nothing": (b"", "not well-formed"),
    "no xml": (b"Machine (4GB total)\n  Core L#0\n", "not well-formed"),
    "binary": (bytes(range(256)) * 4, "not well-formed"),
    "truncated": (xml()[:-20], "not well-formed"),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><topology/>', "not well-formed"),
    "several bytes a character": (b'<?xml version="1.0" encoding="utf-7"?><topology/>', "encoding"),
    "other root": (b"<html><object type='Machine'/></html>", "no hwloc topology"),
    "deep": (b"<topology>" + b"<object type='Machine'>" * 100_000, "nested deeper"),
    "many elements": (b"<topology>" + b"<a/>" * 600_000 + b"</topology>", "more than 500000 elements"),
    "too large": (b"<topology>" + b" " * (17 << 20) + b"</topology>", "more than 16 MiB"),
    "no machine": (b"<topology/>", "no Machine"),
    "no pu": (xml(NODE0), "no PU"),
    "no node": (xml(PU0), "no NUMA node"),
    "too many nodes": (
        xml(PU0 + "".join(NODE0.replace('os_index="0"', f'os_index="{i}"') for i in range(1025))),
        "1024 NUMA",
    ),
    "pu twice": (xml(PU0 + PU0 + NODE0), "PU 0 appears more than once"),
    "node twice": (xml(PU0 + NODE0 + NODE0), "one OS index"),
    "pu in no node": (xml(PU1.replace("0x2", "0x0") + NODE0), "PU 1 belongs to no NUMA node"),
    "nodes that overlap": (
        xml(PU0 + PU1 + NODE0.replace("0x1", "0x3") + NODE1.replace("0x2", "0x6")),
        "NUMA nodes 1 and 0 share only some of their PUs",
    ),
    "core in two nodes": (xml(f'<object type="Core">{PU0}{PU1}</object>{NODE0}{NODE1}'), "core of PU 0 is part of 2"),
    "huge index": (xml(PU0.replace('os_index="0"', 'os_index="4000000000"') + NODE0), "os_index of a PU"),
    "index past the limit": (xml(PU0.replace('os_index="0"', 'os_index="65536"') + NODE0), "os_index of a PU"),
    "negative index": (xml(PU0 + NODE0.replace('os_index="0"', 'os_index="-1"')), "os_index of a NUMANode is '-1'"),
    "no index": (xml('<object type="PU"/>' + NODE0), "os_index of a PU"),
    "foreign digits": (xml(PU0.replace('os_index="0"', 'os_index="٣"') + NODE0), "os_index of a PU"),
    "negative memory": (xml(PU0 + NODE0.replace('"64"', '"-64"')), "local_memory of a NUMANode is '-64'"),
    "huge memory": (xml(PU0 + NODE0.replace('"64"', '"9999999999999999999"')), "local_memory"),
    "no memory": (xml(PU0 + NODE0.replace('"64"', '"0"')), "no NUMA node has usable memory"),
    "negative cache": (
        xml('<object type="L2Cache" depth="2" cpuset="0x1" cache_size="-1"/>' + PU0 + NODE0),
        "cache_size",
    ),
    "endless mask": (xml(PU0 + NODE0.replace("0x1", "0xf...f")), "cpuset is '0xf...f'"),
    "huge mask": (xml(PU0 + NODE0.replace("0x1", ",".join(["0xffffffff"] * 3000))), "cpuset is"),
    "huge word": (xml(PU0 + NODE0.replace("0x1", "0x123456789")), "cpuset is"),
    "few distances": (xml(after=distances("0 1", "10 20 20")), "3 distances for 2 NUMA nodes"),
    "no distances": (xml(after=distances("", "")), "0 distances for 0 NUMA nodes"),
    "negative distance": (xml(PU0 + PU1 + NODE0 + NODE1, distances("0 1", "10 -20 20 10")), "number is '-20'"),
    "zero distance": (xml(PU0 + PU1 + NODE0 + NODE1, distances("0 1", "10 0 20 10")), "distances must be positive"),
    "zero local distance": (xml(PU0 + PU1 + NODE0 + NODE1, distances("0 1", "0 20 20 10")), "not positive"),
    "distance in words": (xml(PU0 + PU1 + NODE0 + NODE1, distances("0 1", "10 far far 10")), "number is 'far'"),
    "distances to a name": (xml(after=distances("0 x", "1 2 3 4")), "number is 'x'"),
}


@pytest.mark.parametrize(("data", "what"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_xml_gets_one_clear_line(data: bytes, what: str) -> None:
    with pytest.raises(InvalidTopologyError) as error:
        topology_from_xml(data, "hostile")
    message = str(error.value)
    assert what in message
    assert message.startswith("topology 'hostile': ")
    assert "\n" not in message
    assert len(message) < 300


def test_a_document_type_alone_is_no_attack() -> None:
    # hwloc writes one into every file; it must neither be refused nor be fetched.
    data = b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n' + xml()
    assert topology_from_xml(data, "typed").core_count == 1


def test_a_very_large_machine_is_read() -> None:
    pus = "".join(f'<object type="PU" os_index="{i}"/>' for i in range(4096))
    node = f'<object type="NUMANode" os_index="0" cpuset="{",".join(["0xffffffff"] * 128)}" local_memory="1"/>'
    assert topology_from_xml(xml(pus + node), "large").core_count == 4096


@settings(max_examples=300)
@given(cut=st.integers(0, 5000), flip=st.integers(0, 5000), byte=st.integers(0, 255))
def test_damaged_files_are_read_or_refused_and_nothing_else(cut: int, flip: int, byte: int) -> None:
    data = bytearray((MACHINES / "one-node.xml").read_bytes())
    data[flip % len(data)] = byte
    try:
        topology = topology_from_xml(bytes(data[: len(data) - cut // 10]), "damaged")
    except InvalidTopologyError as refused:
        message = str(refused)
    else:
        message = ""
        assert topology.core_count >= 1
    assert "\n" not in message


@pytest.mark.parametrize("text", ["0x1", "0x00000003,0x0", ",0x1", "0x1,,0x1", "0x0", ""])
def test_masks_are_read_word_by_word(text: str) -> None:
    words = text.split(",")
    expected = sum(int(word or "0", 16) << 32 * position for position, word in enumerate(reversed(words)))
    element = hwloc._parse(f'<topology cpuset="{text}"/>'.encode())
    assert hwloc._mask(element, "cpuset") == expected
    assert hwloc._bits(expected) == [bit for bit in range(80) if expected >> bit & 1]


def test_the_details_of_caches_are_those_of_each_levels_first() -> None:
    def cache(kind: str, level: int, ways: int, *told: str) -> str:
        notes = "".join(f'<info name="Inclusive" value="{value}"/>' for value in told)
        return f'<object type="{kind}" depth="{level}" cache_associativity="{ways}">{notes}</object>'

    caches = [
        cache("L3Cache", 3, 11, "0"),
        cache("L2Cache", 2, 8, "1"),
        cache("L2Cache", 2, 4),
        cache("L1iCache", 1, 2),
    ]
    data = f'<topology><object type="Machine">{"".join(caches)}{cache("L1Cache", 1, 12)}</object></topology>'.encode()
    assert sorted(cache_details_from_xml(data), key=lambda detail: detail.level) == [
        CacheDetail(1, 12, None),
        CacheDetail(2, 8, True),
        CacheDetail(3, 11, False),
    ]
    assert cache_details_from_xml(b"<topology><object") == ()


def kinds_in(*kinds: str) -> list[int]:
    """Return the kind of each PU's core, in the order of the topology, where each kind has one PU."""
    pus = "".join(
        f'<object type="Core"><object type="PU" os_index="{n}" cpuset="{1 << n:#x}"/></object>'
        for n in range(len(kinds))
    )
    node = f'<object type="NUMANode" os_index="0" cpuset="{(1 << len(kinds)) - 1:#x}" local_memory="64"/>'
    elements = "".join(f'<cpukind cpuset="{1 << n:#x}" {kind}</cpukind>' for n, kind in enumerate(kinds))
    xml = f'<topology><object type="Machine">{pus}{node}</object>{elements}</topology>'
    (found,) = topology_from_xml(xml.encode(), "kinds").nodes
    return [10 * core.pus[0] + core.kind for core in found.cores]


def info(**values: object) -> str:
    return ">" + "".join(f'<info name="{name}" value="{value}"/>' for name, value in values.items())


def test_the_fastest_kind_is_first_by_what_differs() -> None:
    assert kinds_in('forced_efficiency="0">', 'forced_efficiency="2">') == [10, 1]
    assert kinds_in(info(LinuxCapacity=400), info(LinuxCapacity=1024), info(LinuxCapacity=800)) == [10, 21, 2]
    assert kinds_in(info(CoreType="IntelAtom", FrequencyMaxMHz=5000), info(CoreType="IntelCore")) == [10, 1]
    assert kinds_in(info(FrequencyMaxMHz=3300), info(FrequencyMaxMHz=5100)) == [10, 1]  # dense cores
    assert kinds_in(info(LinuxCapacity=1024), info(LinuxCapacity=940), info(LinuxCapacity=860)) == [0, 10, 21]


def test_a_little_more_turbo_and_what_nothing_says_are_no_kinds() -> None:
    assert kinds_in(info(FrequencyMaxMHz=4800), info(FrequencyMaxMHz=5100)) == [0, 10]
    assert kinds_in(info(LinuxCapacity=1000), info(LinuxCapacity=1024)) == [0, 10]
    assert kinds_in(info(LinuxCapacity="fast"), ">") == [0, 10]
    assert kinds_in(">", info(FrequencyMaxMHz=5100)) == [0, 10]
    assert kinds_in(info()) == [0]


def test_a_malformed_kind_is_refused() -> None:
    xml = (MACHINES / "alder-lake.xml").read_bytes()
    many = xml.replace(b"</topology>", b"<cpukind/>" * 65 + b"</topology>")
    with pytest.raises(InvalidTopologyError, match="more than 64 kinds of cores"):
        topology_from_xml(many, "bad")
    with pytest.raises(InvalidTopologyError, match="cpuset is 'x'"):
        topology_from_xml(xml.replace(b'"0x05555000"', b'"x"'), "bad")
