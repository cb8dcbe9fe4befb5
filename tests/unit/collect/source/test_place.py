import pytest

from numapredict.collect.source.place import Frame, Place, plain_function

STD = Frame("std::vector<double>::vector", "/usr/include/c++/12/bits/stl_vector.h", 552)
MAIN = Frame("main", "/home/me/app.cpp", 10)


def test_the_frame_is_the_innermost_of_the_programs_own() -> None:
    place = Place("/home/me/app", 0x1234, (STD, MAIN, Frame("start", "/home/me/app.cpp", 99)))
    assert (place.frame, place.text, place.by_container) == (MAIN, "main, app.cpp:10", True)
    assert Place("app", 1, (MAIN,)).by_container is False


def test_without_a_line_it_is_the_function_or_the_modules_offset() -> None:
    assert Place("/home/me/app", 0x1234, (Frame("main"),)).text == "main, app+0x1234"
    assert Place("/home/me/app", 0x1234).text == "app+0x1234"
    assert Place("", 0x10).text == "no file+0x10"
    assert Place("app", 1, (STD,)).frame == STD


def test_a_line_of_the_c_library_says_nothing_to_its_caller() -> None:
    place = Place("/lib/x86_64-linux-gnu/libc.so.6", 0x2A, (Frame("memset", "/build/memset.S", 7),))
    assert (place.in_c_library, place.text) == (True, "memset, libc.so.6+0x2a")


def test_bodies_of_parallel_regions_are_told_by_their_names() -> None:
    names = ("fill._omp_fn.0", ".omp_outlined._debug__", "main.omp_outlined", "main")
    assert [Place("app", 1, (Frame(name),)).in_region for name in names] == [True, True, True, False]
    assert [plain_function(name) for name in names] == [
        "fill (parallel region)",
        "parallel region",
        "main (parallel region)",
        "main",
    ]


@pytest.mark.parametrize(
    ("function", "is_one"),
    [
        ("Field::Field", True),
        ("mesh::Field<double, 3>::Field", True),
        ("Field<Pair<int>::Other>::Field(long)", True),
        ("Field::cells", False),
        ("Field::~Field", False),
        ("main", False),
        (None, False),
    ],
)
def test_a_constructor_is_known_by_its_name(function: str | None, is_one: bool) -> None:
    assert Frame(function).is_constructor == is_one
