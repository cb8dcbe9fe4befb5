from numapredict.collect.describing.computer import Shape, measure_computer
from numapredict.collect.describing.cores import questions_of_cores
from numapredict.collect.describing.sample import Pace
from numapredict.collect.host.packages import Package
from numapredict.collect.index_list import index_list
from numapredict.collect.topology import Node
from tests.unit.collect.describing.made_up import answering, captured, idle


def pus_of(*nodes: Node) -> tuple[int, ...]:
    return tuple(pu for node in nodes for core in node.cores for pu in core.pus)


def test_the_first_package_has_the_cores_of_all_its_nodes() -> None:
    topology, caches = captured("four-node")
    first, second, third, fourth = topology.nodes
    two = (Package(0, pus_of(first, third), (0, 2)), Package(1, pus_of(second, fourth), (1, 3)))
    assert Shape(topology, caches, two).first_package == first.cores + third.cores
    elsewhere = (Package(1, pus_of(second, fourth), (1, 3)),)
    assert Shape(topology, caches, elsewhere).first_package == first.cores
    assert Shape(topology, caches).first_package == first.cores


def test_no_cores_are_asked_twice_for_their_frequency() -> None:
    for name in ("one-node", "four-node", "smt"):
        topology, caches = captured(name)
        asked: list[tuple[str, ...]] = []
        shape = Shape(topology, caches)
        found = measure_computer(shape, Pace(), answering(topology, asked), idle)
        pus = [words[1] for words in asked if words[0] == "frequency"]
        assert len(set(pus)) == len(pus)
        assert pus[-1] == index_list(core.pus[0] for node in topology.nodes for core in node.cores)
        _, last = found.cores.turbo_GHz[-1]
        assert (last is found.cores.frequency_GHz) == (name == "one-node")
        of_cores = [words for words in asked if words[0] in ("frequency", "work", "cache")]
        assert questions_of_cores(topology, shape.first_package) == len(of_cores)
        samples = list(found.samples())
        assert len({id(sample) for sample in samples}) == len(samples)
