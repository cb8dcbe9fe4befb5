import msgspec
import pytest

from numapredict.collect.data.journal import Header
from numapredict.collect.data.machine_kind import difference_in_words, kind_of
from numapredict.collect.topology import Core, Topology
from tests.samples import topology_of

GIB = 1 << 30


def header_of(
    topology: Topology | None = None, *, modelled: bool = False, kernel: str = "Linux 6.1", processor: str = "A CPU"
) -> Header:
    return Header(
        machine="server",
        modelled=modelled,
        made_by="me",
        created="now",
        environment=(("kernel", kernel), ("processor", processor), ("governor", "performance")),
        topology=topology_of() if topology is None else topology,
    )


def with_memory(sizes_bytes: tuple[int, ...]) -> Topology:
    topology = topology_of(cores=(4,) * len(sizes_bytes))
    nodes = zip(topology.nodes, sizes_bytes, strict=True)
    return msgspec.structs.replace(
        topology, nodes=tuple(msgspec.structs.replace(node, memory_bytes=size) for node, size in nodes)
    )


def with_smt() -> Topology:
    topology = topology_of()
    nodes = tuple(
        msgspec.structs.replace(node, cores=tuple(Core(c.index, (c.pus[0], c.pus[0] + 8)) for c in node.cores))
        for node in topology.nodes
    )
    return msgspec.structs.replace(topology, nodes=nodes)


def test_settings_of_equal_nodes_may_differ_and_so_may_the_numbers_of_their_pus() -> None:
    one = header_of(topology_of(os_indices=(0, 1)))
    other = msgspec.structs.replace(
        header_of(topology_of(os_indices=(2, 3))), environment=(("kernel", "Linux 6.1"), ("processor", "A CPU"))
    )
    assert kind_of(one) == kind_of(other)
    assert kind_of(one).fingerprint == kind_of(other).fingerprint
    assert difference_in_words(kind_of(one), kind_of(other)) == ""


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (header_of(kernel="Linux 6.12"), "kernel: Linux 6.1 and Linux 6.12"),
        (header_of(processor=""), "processor: A CPU and unknown"),
        (header_of(with_smt()), "PUs of each core: 1 and 2"),
        (header_of(modelled=True), "modelled: no and yes; processor: A CPU and unknown; kernel: Linux 6.1 and unknown"),
        (header_of(topology_of(cores=(2, 2, 2, 2))), "cores of each NUMA node: 4 4 and 2 2 2 2; "),
        (header_of(with_memory((GIB, 2 * GIB))), "GiB of each NUMA node: 1 1 and 1 2"),
    ],
)
def test_what_makes_another_machine_is_named(other: Header, words: str) -> None:
    one = kind_of(header_of())
    assert one.fingerprint != kind_of(other).fingerprint
    assert difference_in_words(one, kind_of(other)).startswith(words)


def test_a_modelled_machine_is_the_same_on_every_computer() -> None:
    one, other = header_of(modelled=True), header_of(modelled=True, kernel="Linux 5.14", processor="Another")
    assert kind_of(one) == kind_of(other)


@pytest.mark.parametrize("installed_GiB", [16, 24, 64, 96, 128, 192, 320, 384, 512])
def test_what_firmware_keeps_of_the_memory_makes_no_difference(installed_GiB: int) -> None:
    sizes = [int(installed_GiB * GIB * share) for share in (1.0, 0.995, 0.98, 0.96)]
    kinds = {kind_of(header_of(with_memory((size, size)))) for size in sizes}
    assert [kind.memory_GiB for kind in kinds] == [(installed_GiB, installed_GiB)]


def test_a_module_less_is_another_machine() -> None:
    """Of eight."""
    whole, less = ((GIB * size, GIB * size) for size in (64, 56))
    assert kind_of(header_of(with_memory(whole))) != kind_of(header_of(with_memory(less)))
