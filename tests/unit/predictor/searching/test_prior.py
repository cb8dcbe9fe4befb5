import cProfile
import pstats
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import _thread_slots, page_node_set
from numapredict.collect.space import default_mapping, full_space
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of, read_gains, write_gains
from numapredict.predictor.searching.known_gains import FEW_GROUPS, known_gains
from numapredict.predictor.searching.prior import known_of, prior_of, shipped_file, shipped_gains
from tests.golden.known_gains.__main__ import APPLICATIONS, applications_file, l3s_file, made, with_programs
from tests.shapes import shape


def machine(name: str, groups: int, nodes: int = 2) -> MachineGains:
    """Return a machine's programs, one a group, which gain most from all pages interleaved."""
    topology = shape([8] * nodes, name=name)
    mappings = full_space(topology)
    gains = np.array([[mapping.page_policy == "interleave" for mapping in mappings]] * groups, dtype=np.float64)
    return MachineGains(
        machine=name,
        modelled=False,
        topology=topology,
        default=default_mapping(topology).label,
        mappings=tuple(mapping.label for mapping in mappings),
        groups=tuple(map(str, range(groups))),
        numbers=numbers_of(gains),
    )


def test_a_machine_without_programs_of_its_own_gets_those_of_others_under_its_mappings() -> None:
    new = shape([4] * 4, name="new")
    found = known_of(new, None, [machine("one", 2), machine("two", 3, 4)], lambda _mapping: True, modelled=False)
    assert found.mappings == full_space(new)
    assert found.mappings[found.default] == default_mapping(new)
    assert found.known.weights == pytest.approx([1 / 4, 1 / 4, 1 / 6, 1 / 6, 1 / 6])  # both machines weigh the same
    interleaved = found.mappings.index(parse_label("16x4-contiguous-interleave"))
    assert (found.known.gains[:, interleaved] > 0.9).all()
    assert found.origin == "5 programs on one, two"


def test_others_join_only_where_groups_are_few() -> None:
    few, enough, other = machine("own", FEW_GROUPS), machine("own", FEW_GROUPS + 1), machine("other", 1, 4)
    assert len(known_of(enough.topology, enough, [other], lambda _: True, modelled=False).known.gains) == FEW_GROUPS + 1
    joined = known_of(few.topology, few, [other], lambda _: True, modelled=False).known
    assert len(joined.gains) == FEW_GROUPS + 1
    assert joined.weights[-1] == pytest.approx(0.5)


def test_only_supported_mappings_may_run_and_gains_follow_them() -> None:
    own = machine("own", 9)
    found = known_of(
        own.topology, own, [], lambda mapping: mapping.page_policy in ("interleave", "bind"), modelled=False
    )
    assert {mapping.page_policy for mapping in found.mappings} == {"interleave", "bind", "first-touch"}
    assert found.mappings[found.default].label == own.default
    gained = [mapping.page_policy == "interleave" for mapping in found.mappings]
    assert found.known.gains[0].tolist() == gained
    over = found.over(gained.index(True)).gains[0]
    assert (over[gained.index(True)], over[found.default]) == (0.0, -1.0)


def test_the_mapping_nearest_to_how_a_program_runs_unbound() -> None:
    own = machine("own", 9)
    found = known_of(own.topology, own, [], lambda _: True, modelled=False)
    for label in ("16x2-contiguous-first-touch", "8x2-scatter-first-touch", "2x2-contiguous-first-touch"):
        assert found.mappings[found.nearest(parse_label(label), own.topology)].label == label
    odd = found.mappings[found.nearest(parse_label("9x2-scatter-first-touch"), own.topology)]
    assert odd.label == "8x2-scatter-first-touch"


def test_gains_trained_here_precede_shipped_ones_if_they_are_of_this_shape(tmp_path: Path) -> None:
    shipped = next(each for each in read_gains(shipped_file()) if each.machine == "broadwell-2x10")
    trained = MachineGains(
        machine=shipped.machine,
        modelled=True,
        topology=shipped.topology,
        default=shipped.default,
        mappings=shipped.mappings,
        groups=tuple(map(str, range(FEW_GROUPS + 1))),
        numbers=bytes((FEW_GROUPS + 1) * 2 * len(shipped.mappings)),
    )
    write_gains([trained], tmp_path / "trained")
    ask = (shipped.machine, shipped.topology)
    here = prior_of(*ask, tmp_path / "trained", lambda _: True, modelled=False)
    assert len(here.known.gains) == FEW_GROUPS + 1
    assert len(prior_of(*ask, tmp_path / "none", lambda _: True, modelled=False).known.gains) == len(shipped.groups)
    elsewhere = prior_of(shipped.machine, shape([10, 10]), tmp_path / "none", lambda _: True, modelled=False)
    assert "broadwell" not in elsewhere.origin  # of the same name, but another shape


@pytest.mark.thorough
def test_the_gains_that_ship_are_those_of_the_shipped_datasets() -> None:
    shipped = read_gains(shipped_file())
    assert shipped_file().stat().st_size < 2e6
    from numapredict.predictor.learning.datasets import shipped_datasets

    expected = [*map(made, shipped_datasets()), *read_gains(l3s_file())]
    assert list(shipped) == expected, "run python -m tests.golden.known_gains"
    assert [each.machine for each in shipped[-3:]] == ["rome-1x64", "rome-2x64", "rome-4x16"]


def test_what_is_known_of_a_large_machine_is_ready_after_few_calls() -> None:
    for cached in (parse_label, _thread_slots, page_node_set):  # as in a new process
        cached.cache_clear()
    new = shape([16] * 8, pus=2)
    counted = cProfile.Profile()
    counted.runcall(prior_of, "new", new, Path("none"), lambda _: True, modelled=False)
    assert pstats.Stats(counted).total_calls < 150_000  # type: ignore[attr-defined]


def test_programs_under_few_mappings_keep_what_they_gained_and_the_rest_is_carried_over() -> None:
    whole, other = machine("own", FEW_GROUPS + 1), machine("other", 1, 4)
    ran = [whole.mappings.index(label) for label in (whole.default, "16x2-contiguous-interleave")]
    part = msgspec.structs.replace(
        whole, mappings=tuple(whole.mappings[column] for column in ran), numbers=numbers_of(whole.gains[:, ran] * 3)
    )
    found = known_of(part.topology, part, [other], lambda _: True, modelled=True)
    assert found.mappings == full_space(part.topology)
    own = found.known.gains[: FEW_GROUPS + 1]
    assert (own[:, [found.mappings.index(parse_label(label)) for label in part.mappings]] == [0.0, 3.0]).all()
    near = found.mappings.index(parse_label("16x2-scatter-interleave"))
    assert (own[:, near] > 1.0).all()
    assert found.known.weights[-1] == pytest.approx(FEW_GROUPS / (2 * FEW_GROUPS + 1))
    alone = known_of(part.topology, part, [], lambda _: True, modelled=True)
    assert alone.known.gains == pytest.approx(own)
    assert alone.known.weights.sum() == pytest.approx(1.0)


def test_what_applications_gained_is_known_as_one_group_under_the_same_mappings() -> None:
    measured = {each.machine: each for each in read_gains(applications_file())}
    for shipped in shipped_gains(shape([8, 8])):
        found, more = known_gains(shipped.gains, shipped.groups), measured[shipped.machine]
        rows = [row for row, group in enumerate(shipped.groups) if group == APPLICATIONS]
        assert found.weights[rows].sum() == pytest.approx(1 / len(set(shipped.groups)))
        alone = more.mappings.index(next(label for label in more.mappings if "x1-contiguous-bind" in label))
        label = more.mappings[alone]
        assert shipped.gains[rows, shipped.mappings.index(label)].tolist() == more.gains[:, alone].tolist()


def test_programs_that_ran_under_other_mappings_are_not_put_together() -> None:
    one = machine("one", 2)
    turned = msgspec.structs.replace(
        one, mappings=one.mappings[::-1], numbers=numbers_of(np.array(one.gains[:, ::-1] * 3))
    )
    assert with_programs(one, turned).gains.tolist() == [*one.gains.tolist(), *(one.gains * 3).tolist()]
    for other in (machine("other", 2, 4), msgspec.structs.replace(one, default=one.mappings[1])):
        with pytest.raises(ValueError, match="another shape or under other mappings"):
            with_programs(one, other)


def test_policies_that_are_asked_for_gain_what_the_nearest_does() -> None:
    far = shape([4, 4], distances=[[10, 30], [30, 10]])
    prior = known_of(far, None, [machine("one", 2)], lambda _: True, modelled=False)
    for usual in ((), ("interleave",)):
        assert prior.with_policies(usual, far, lambda _: True).mappings == prior.mappings
    assert prior.with_policies(("weighted",), far, lambda _: False).mappings == prior.mappings
    found = prior.with_policies(("weighted", "bind"), far, lambda _: True)
    more = found.mappings[len(prior.mappings) :]
    assert "4x1-contiguous-weighted@2" in {mapping.label for mapping in more}
    assert {mapping.page_policy for mapping in more} == {"weighted"}
    assert not {"weighted"} & {mapping.page_policy for mapping in prior.mappings}
    labels = [mapping.label for mapping in found.mappings]
    one, other = (labels.index(f"4x1-contiguous-{pages}@2") for pages in ("weighted", "interleave"))
    assert found.known.gains.shape[1] == len(labels)
    assert (found.known.gains[:, one] == found.known.gains[:, other]).all()
