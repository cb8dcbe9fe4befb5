import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.modelled.routes import routes_over
from numapredict.native.errors import InvalidInputError

RING = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3)]


def test_a_node_reaches_itself_over_no_link_and_its_neighbour_over_one() -> None:
    routes = routes_over(4, RING)
    assert [routes[node][node] for node in range(4)] == [()] * 4
    assert routes[0][1] == (0,)
    assert routes[0][3] == (7,)


def test_the_opposite_node_of_a_ring_is_two_links_away_and_the_first_links_win() -> None:
    assert routes_over(4, RING)[0][2] == (0, 2)
    assert routes_over(4, RING[::-1])[0][2] == (0, 2)  # there the first links lead over node 3


def test_a_path_fixes_its_own_route_and_no_other() -> None:
    free, fixed = routes_over(4, RING), routes_over(4, RING, [(0, 3, 2)])
    assert fixed[0][2] == (7, 5)
    assert fixed[0][2] != free[0][2]
    assert [fixed[i][j] for i in range(4) for j in range(4) if (i, j) != (0, 2)] == [
        free[i][j] for i in range(4) for j in range(4) if (i, j) != (0, 2)
    ]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ((0, 2), "no link 0 -> 2"),
        ((0, 1, 0, 3), "distinct nodes"),
        ((0,), "distinct nodes"),
    ],
)
def test_a_path_that_cannot_be_is_refused(path: tuple[int, ...], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        routes_over(4, RING, [path])


def test_two_paths_for_one_pair_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="second one from node 0 to node 2"):
        routes_over(4, RING, [(0, 1, 2), (0, 3, 2)])


def test_a_node_that_no_link_reaches_is_named() -> None:
    with pytest.raises(InvalidInputError, match="from node 0 to node 2"):
        routes_over(3, [(0, 1), (1, 0), (2, 0)])


@st.composite
def link_sets(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """A one-way ring, so that everything is reachable, with further links in any order."""
    count = draw(st.integers(1, 6))
    ring = {(node, (node + 1) % count) for node in range(count)} if count > 1 else set()
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    more = set(draw(st.lists(st.sampled_from(pairs)))) if pairs else set()
    return count, draw(st.permutations(sorted(ring | more)))


@given(link_sets())
def test_every_route_is_a_chain_of_the_fewest_links(case: tuple[int, list[tuple[int, int]]]) -> None:
    count, ends = case
    far = count * len(ends) + 1
    hops = [[0 if i == j else 1 if (i, j) in ends else far for j in range(count)] for i in range(count)]
    for k in range(count):  # Floyd and Warshall, an independent answer
        hops = [[min(hops[i][j], hops[i][k] + hops[k][j]) for j in range(count)] for i in range(count)]
    for i, row in enumerate(routes_over(count, ends)):
        for j, route in enumerate(row):
            nodes = [i, *(ends[link][1] for link in route)]
            assert [ends[link][0] for link in route] == nodes[:-1]
            assert nodes[-1] == j
            assert len(route) == hops[i][j]
