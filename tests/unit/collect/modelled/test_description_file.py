import pytest

from numapredict.collect.modelled.description import load_description, machine_names
from numapredict.collect.modelled.description_file import BOUNDS, CacheTable, MachineFile, Table, parse_file
from numapredict.native.errors import InvalidInputError

VALID = """
name = "pair"
summary = "two nodes"
[core]
source = "invented"
frequency_GHz = 2.0
cycles_per_instruction = 0.5
reorder_window = 100
[memory]
source = "invented"
line_bytes = 64
page_bytes = 4096
[private_cache]
source = "invented"
size_bytes = 4096
ways = 4
[shared_cache]
source = "invented"
size_bytes = 65536
ways = 8
latency_ns = 10
[nodes]
source = "invented"
cores = [2, 1]
memory_bytes = [1048576, 0]
[latency]
source = { read = "table 1" }
unit = "ns"
read = [[80, 120], [121, 81.5]]
[thread_bandwidth]
source = "invented"
read_GBps = [[8, 4], [4.5, 8]]
write_GBps = [[5, 3], [3, 5]]
[controllers]
source = "invented"
read_GBps = [20, 21]
write_GBps = [10, 11]
[links]
source = "invented"
ends = [[0, 1], [1, 0]]
read_GBps = [9, 7]
write_GBps = [6, 5]
"""


def parse(text: str) -> MachineFile:
    return parse_file(text.encode(), "pair.toml")


def test_a_valid_file_keeps_its_figures() -> None:
    file = parse(VALID)
    assert file.latency.read == ((80.0, 120.0), (121.0, 81.5))
    assert file.latency.write is None
    assert file.links is not None
    assert file.links.ends == ((0, 1), (1, 0))


def test_every_figure_has_a_source() -> None:
    sources = dict(parse(VALID).sources())
    assert sources["latency.read"] == "table 1"
    assert sources["core.frequency_GHz"] == sources["links.ends"] == "invented"
    assert "latency.unit" not in sources  # no figure
    assert "links.paths" not in sources  # not given
    assert len(sources) == 20


def test_rows_come_in_the_order_of_the_nodes() -> None:
    file = parse(VALID.replace("[thread_bandwidth]", "[thread_bandwidth]\nmeasured_by = [1, 0]"))
    table = file.thread_bandwidth
    assert table.by_node(table.read_GBps) == ((4.5, 8.0), (8.0, 4.0))
    plain = parse(VALID).thread_bandwidth
    assert plain.by_node(plain.read_GBps) == plain.read_GBps


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('[core]\nsource = "invented"', "[core]", "core: Object missing required field `source`"),
        ('[core]\nsource = "invented"', '[core]\nsource = "  "', "core.source is empty"),
        ('{ read = "table 1" }', '{ write = "table 1" }', "latency.source has nothing for read"),
        ('{ read = "table 1" }', '{ read = "table 1", more = "x" }', "latency.source names more"),
        ('name = "pair"', 'name = ""', "name and summary"),
        ('name = "pair"\n', "", "missing required field `name`"),
        ("ways = 4", "ways = 4\ncolour = 3", "private_cache: Object contains unknown field `colour`"),
        ("[memory]", "[colour]\nx = 1\n[memory]", "unknown field `colour`"),
        ("frequency_GHz = 2.0", 'frequency_GHz = "fast"', "core.frequency_GHz: Expected `float`, got `str`"),
        ("frequency_GHz = 2.0", "frequency_GHz = true", "core.frequency_GHz: Expected `float`, got `bool`"),
        ("frequency_GHz = 2.0", "frequency_GHz = nan", "core.frequency_GHz: nan is not a positive number"),
        ("frequency_GHz = 2.0", "frequency_GHz = inf", "core.frequency_GHz: inf is not"),
        ("frequency_GHz = 2.0", "frequency_GHz = 0", "core.frequency_GHz: 0.0 is not"),
        ("frequency_GHz = 2.0", f"frequency_GHz = {'9' * 400}", "core.frequency_GHz: Number out of range"),
        ("frequency_GHz = 2.0", f"frequency_GHz = {'9' * 5000}", "not a TOML file"),
        ("read = [[80, 120]", "read = [[80, -120]", "latency.read: -120.0 is not a positive number"),
        ("cores = [2, 1]", "cores = [2, -1]", "nodes.cores"),
        ("cores = [2, 1]", "cores = [2]", "nodes: 1 entries in cores and 2 in memory_bytes"),
        ("cores = [2, 1]\nmemory_bytes = [1048576, 0]", "cores = []\nmemory_bytes = []", "nodes: 0 entries"),
        ("[121, 81.5]]", "[121]]", "latency.read: must have 2 rows of 2 numbers"),
        ("read_GBps = [[8, 4], [4.5, 8]]", "read_GBps = [[8, 4]]", "thread_bandwidth.read_GBps: must have 2 rows"),
        ("[thread_bandwidth]", "[thread_bandwidth]\nmeasured_by = [1, 1]", "measured_by: must name each node"),
        ("read_GBps = [20, 21]", "read_GBps = [20]", "controllers.read_GBps: 1 numbers for 2 nodes"),
        ("read_GBps = [9, 7]", "read_GBps = [9]", "links.read_GBps: 1 numbers for 2 links"),
        ("ends = [[0, 1], [1, 0]]", "ends = [[0, 1], [0, 1]]", "a link appears twice"),
        ("ends = [[0, 1], [1, 0]]", "ends = [[0, 1], [1, 1]]", "[1, 1] does not join two of the 2 nodes"),
        ("ends = [[0, 1], [1, 0]]", "ends = [[0, 1], [2, 0]]", "[2, 0] does not join"),
        ("ends = [[0, 1], [1, 0]]", "ends = [[0, 1], [1]]", "links.ends[1]: Expected `array` of length 2"),
        ("line_bytes = 64", "line_bytes = 65", "memory.line_bytes: 65 is not a power of two"),
        ("line_bytes = 64", "line_bytes = 8192", "smaller than a line"),
        ("ways = 4", "ways = 5", "private_cache.size_bytes: 4096 is no multiple of 320"),
        ("ways = 4", "ways = 0", "private_cache.ways: 0 is not a positive number"),
        ('unit = "ns"', 'unit = "days"', "latency.unit: Invalid enum value 'days'"),
        ("[controllers]", "[controllers", "not a TOML file"),
    ],
)
def test_an_invalid_file_gets_one_line_with_file_and_field(before: str, after: str, said: str) -> None:
    assert VALID.count(before) >= 1
    with pytest.raises(InvalidInputError) as caught:
        parse(VALID.replace(before, after, 1))
    message = str(caught.value)
    assert message.startswith("machine description pair.toml: ")
    assert said in message
    assert "\n" not in message


def test_the_interconnect_is_described_once() -> None:
    without_links = VALID[: VALID.index("[links]")]
    with pytest.raises(InvalidInputError, match="links: missing"):
        parse(without_links)
    with pytest.raises(InvalidInputError, match="give either node_bandwidth, or controllers and links"):
        parse(VALID[: VALID.index("[controllers]")])
    both = VALID + '[node_bandwidth]\nsource = "x"\nread_GBps = [[9, 4], [4, 9]]\nwrite_GBps = [[9, 4], [4, 9]]\n'
    with pytest.raises(InvalidInputError, match="give either node_bandwidth, or controllers and links"):
        parse(both)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a = " + b"[" * 100_000, b"", b"\x00"])
def test_bytes_that_are_no_description_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError, match=r"^machine description x: .+$"):
        parse_file(data, "x")


def figures() -> list[tuple[str, str, object]]:
    """Return every figure that a file can have: its table, its name, and what it is in the valid one."""
    file = parse(VALID)
    return [
        (name, figure, getattr(table, figure))
        for name, table in file.tables()
        for figure in table.__struct_fields__
        if figure not in ("source", "unit") and getattr(table, figure) not in (None, ())
    ]


def first_replaced(value: object, by: str) -> str:
    """Return a figure as TOML, its first number replaced."""
    if isinstance(value, tuple):
        return f"[{', '.join([first_replaced(value[0], by), *map(toml, value[1:])])}]"
    return by


def toml(value: object) -> str:
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, tuple) else repr(value)


@pytest.mark.parametrize("number", ["1e60", "1e-60"])
@pytest.mark.parametrize(("table", "figure", "value"), figures())
def test_no_figure_is_beyond_what_physics_allows(table: str, figure: str, value: object, number: str) -> None:
    whole = "e-" not in number and isinstance(_first(value), int)
    written = first_replaced(value, str(10**17) if whole else number)
    lines = VALID.splitlines()
    start = lines.index(f"[{table}]")
    at = next(n for n in range(start, len(lines)) if lines[n].startswith(f"{figure} = "))
    lines[at] = f"{figure} = {written}"
    with pytest.raises(InvalidInputError, match=rf"^machine description pair.toml: {table}(: |[.]{figure})") as caught:
        parse("\n".join(lines))
    assert "\n" not in str(caught.value)


def _first(value: object) -> object:
    return _first(value[0]) if isinstance(value, tuple) else value


def test_every_figure_has_bounds_and_the_installed_machines_keep_far_from_them() -> None:
    kinds = (*Table.__subclasses__(), *CacheTable.__subclasses__())
    fields = {field for kind in kinds for field in kind.__struct_fields__ if field not in ("source", "unit")}
    assert fields == set(BOUNDS)
    for name in machine_names():
        described = load_description(name)
        assert BOUNDS["frequency_GHz"][0] * 100 <= described.frequency_GHz <= BOUNDS["frequency_GHz"][1] / 10
        for row in described.read_latency_ns:
            assert all(BOUNDS["read"][0] * 100 < latency < BOUNDS["read"][1] / 100 for latency in row)
        for row in (*described.thread_read_GBps, described.controller_read_GBps):
            assert all(BOUNDS["read_GBps"][0] * 100 < value < BOUNDS["read_GBps"][1] / 100 for value in row)


def test_there_are_as_many_nodes_and_cores_as_can_be_modelled() -> None:
    with pytest.raises(InvalidInputError, match=r"nodes: 2 nodes with 65537 cores; at most 1024 and 65536"):
        parse(VALID.replace("cores = [2, 1]", "cores = [65536, 1]"))


NEWER = (
    VALID.replace(
        "reorder_window = 100", "reorder_window = 100\nturbo_GHz = [3, 2.5]\nthreads = 2\nsmt_throughput = 1.2"
    )
    .replace("latency_ns = 10", "latency_ns = 10\ncores = 1\ninclusive = false")
    .replace("cores = [2, 1]", "cores = [2, 1]\npackages = [0, 0]")
    + """
[synchronisation]
source = "invented"
threads = [2, 3]
nodes = [1, 2]
fork_join_us = [1, 2]
barrier_us = [0.5, 1]
atomic_ns = [20, 40]
lock_ns = [100, 200]
"""
)


def test_newer_figures_may_be_given() -> None:
    file = parse(NEWER)
    assert file.core.turbo_GHz == (3.0, 2.5)
    assert (file.core.threads, file.core.smt_throughput) == (2, 1.2)
    assert (file.shared_cache.cores, file.shared_cache.inclusive) == (1, False)
    assert file.nodes.packages == (0, 0)
    assert file.synchronisation is not None
    assert file.synchronisation.lock_ns == (100.0, 200.0)
    assert dict(file.sources())["shared_cache.inclusive"] == "invented"


def test_turbo_may_have_an_entry_for_each_core_of_a_package() -> None:
    three = NEWER.replace("turbo_GHz = [3, 2.5]", "turbo_GHz = [3, 2.5, 2]")
    assert parse(three).core.turbo_GHz == (3.0, 2.5, 2.0)
    with pytest.raises(InvalidInputError, match=r"core\.turbo_GHz: 3 entries, and the largest package has 2 cores"):
        parse(three.replace("\npackages = [0, 0]", ""))  # each node is a package of its own


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\nsmt_throughput = 1.2", "", "core.smt_throughput: missing for cores with several threads"),
        (
            "smt_throughput = 1.2",
            "smt_throughput = 2.5",
            "core.smt_throughput: 2.5 is outside 1 to core.threads, which is 2",
        ),
        ("smt_throughput = 1.2", "smt_throughput = 0.9", "core.smt_throughput: 0.9 is outside 1 to 100"),
        ("\nthreads = 2\n", "\n", "core.smt_throughput: 1.2 is outside 1 to core.threads, which is 1"),
        ("cores = 1\n", "cores = 0\n", "shared_cache.cores: a cache that no core shares"),
        ("cores = 1\n", "cores = 3\n", "shared_cache.cores: 3 cores share one, and no node has so many"),
        ("turbo_GHz = [3, 2.5]", "turbo_GHz = [2.5, 3]", "core.turbo_GHz: grows with the active cores"),
        ("[3, 2.5]", "[3, 3, 3, 3]", "core.turbo_GHz: 4 entries, and the largest package has 3 cores"),
        ("fork_join_us = [1, 2]", "fork_join_us = [1, 0.09]", "synchronisation.fork_join_us: 0.09 with a barrier of 1"),
        ("\nthreads = 2\n", "\nthreads = 17\n", "core.threads: 17 hardware threads a core; at most 16"),
        ("threads = [2, 3]", "threads = [2, 7]", "synchronisation: no team of 7 threads can stand on 2 of the 2 nodes"),
        ("packages = [0, 0]", "packages = [0]", "nodes.packages: 1 numbers for 2 nodes"),
        ("turbo_GHz = [3, 2.5]", "turbo_GHz = [3000]", "core.turbo_GHz: 3000 is outside"),
        ("barrier_us = [0.5, 1]", "barrier_us = [0.5]", "synchronisation.barrier_us: 1 numbers for 2 teams"),
        ("nodes = [1, 2]", "nodes = [1, 3]", "synchronisation: no team of 3 threads can stand on 3 of the 2 nodes"),
        ("threads = [2, 3]", "threads = [1, 3]", "synchronisation: no team of 1 threads can stand on 1 of the 2 nodes"),
        (
            "threads = [2, 3]\nnodes = [1, 2]",
            "threads = [2, 2]\nnodes = [1, 1]",
            "synchronisation: a team appears twice",
        ),
    ],
)
def test_newer_figures_are_checked(old: str, new: str, said: str) -> None:
    assert old in NEWER
    with pytest.raises(InvalidInputError) as caught:
        parse(NEWER.replace(old, new))
    assert said in str(caught.value)
