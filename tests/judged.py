"""A made-up answer on variables, as `variables --json` prints it: one that is misplaced, and one that is not."""

from numapredict.collect.source.excerpt import Excerpt
from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.variables.first_touch import Manner
from numapredict.predictor.variables.heat import Heat
from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.remedy import Action, Remedy
from numapredict.predictor.variables.requests import Requests
from numapredict.predictor.variables.traffic import Traffic
from numapredict.predictor.variables.variable import RegionTouches, Variable, Variables

NODES = (0, 0, 1, 1)


def place(line: int, function: str = "main") -> Place:
    """Return a place in a source file."""
    return Place("/app", line, (Frame(function, "/source/app.c", line),))


def variable(name: str, cost: float, first_line: int, action: Action, first: tuple[int | None, ...]) -> Variable:
    """Return a variable of four parts that four threads use, one each."""
    remote = 0.5 if cost else 0.0
    manner: Manner = "one thread" if cost else "equal blocks"
    return Variable(
        name=name,
        kind="allocated",
        size_bytes=4 << 20,
        allocations=1,
        allocated=place(3),
        through="",
        by_container=False,
        touches=100,
        touch_share=0.5,
        first_touch=place(first_line, "main" if cost else "main._omp_fn.0"),
        first_thread=0,
        first_manner=manner,
        first_schedule="",
        pattern=Pattern("blocked", 4),
        other_threads_share=0.75 if cost else 0.0,
        remote_share=remote,
        cost=cost,
        remedy=Remedy(action, "what would help"),
        requests=Requests(
            local=100 - 100 * remote,
            remote=100 * remote,
            nodes=(0, 1),
            by_node=(100, 0) if cost else (50, 50),
            imbalance=2 if cost else 1,
        ),
        traffic=Traffic(
            nodes=(0, 1),
            as_it_is=((50.0, 0.0), (50.0, 0.0) if cost else (0.0, 50.0)),
            with_remedy=((50.0, 0.0), (0.0, 50.0)),
        ),
        source=Excerpt(first_line - 1, ("before", f"{name}[i] = 1 < 2;", "after")),
        heat=Heat(
            threads_each=1,
            pages_each=16,
            touches=((10, 0, 0, 0), (0, 5, 0, 0), (0, 0, 1, 0), (0, 0, 0, 10)),
            first_threads=first,
        ),
    )


def judged_answer() -> Variables:
    """Return the answer."""
    return Variables(
        command=("./app",),
        profile=None,
        threads=4,
        machine="sandybridge-4x8",
        mapping="4x2-contiguous-first-touch",
        modelled=True,
        exit_code=0,
        region_time_s=1.5,
        touches=200,
        nodes=NODES,
        requests=Requests(local=150, remote=50, nodes=(0, 1), by_node=(150, 50), imbalance=1.5),
        traffic=Traffic(
            nodes=(0, 1),
            as_it_is=((100.0, 0.0), (50.0, 50.0)),
            with_remedy=((100.0, 0.0), (0.0, 100.0)),
        ),
        regions=(
            RegionTouches(place(20, "main._omp_fn.1"), 0.75, 0.5, 0.25),
            RegionTouches(None, 0.25, 0.0, None),
        ),
        variables=(
            variable("wrong", 0.25, 8, "initialise in parallel", (0, 0, 0, None)),
            variable("right", 0.0, 11, "nothing", (0, 1, 2, 3)),
        ),
        notes=("be careful",),
    )
