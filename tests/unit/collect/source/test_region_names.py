from numapredict.collect.placing.region_times import RegionTime
from numapredict.collect.source.place import Frame, Place
from numapredict.collect.source.region_names import region_names, whole_name


def region(name: str, offset: int = 0x40, function: str | None = None, line: int | None = None) -> RegionTime:
    frame = Frame(function, "/src/heat.cpp" if line else None, line)
    place = None if function is None else Place("/bin/app", offset + 0x400000, (frame,))
    return RegionTime(name, "/bin/app", offset, 1, 1.0, 4, place=place)


def shown(*regions: RegionTime) -> list[str]:
    return [*map(region_names(regions), regions)]


def test_a_line_is_told_with_its_function_and_else_the_function_or_module_and_offset() -> None:
    assert whole_name(region("x._omp_fn.0", function="cool", line=40)) == "cool, heat.cpp:40"
    assert shown(region("x._omp_fn.0"), region("app+0x41", 0x41)) == ["x", "app+0x41"]
    assert shown(region("x", function="void cool<int>(int) [clone ._omp_fn.0]")) == ["cool<…>(…)"]
    bodies = region(".omp_outlined."), region(".omp_outlined.", 0x50)  # older clang says nothing of their functions
    assert shown(*bodies) == ["parallel region, app+0x40", "parallel region, app+0x50"]


def test_regions_of_one_function_and_line_are_told_apart() -> None:
    one, other = region("f._omp_fn.0"), region("f._omp_fn.1", 0x80)
    assert shown(one, other) == ["f, app+0x40", "f, app+0x80"]
    assert shown(one, one) == ["f", "f"]  # of two processes
    typed = [region("x", at, f"cool<{kind}>", 40) for at, kind in ((1, "int"), (2, "double"))]
    assert shown(*typed) == ["cool<int>, heat.cpp:40", "cool<double>, heat.cpp:40"]
