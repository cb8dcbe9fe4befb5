import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.source.short_names import short_name, short_names

LOOP = (
    "void xgb::ParallelFor<unsigned {0}, xgb::Tree::{1}(xgb::Data*)::{{lambda(unsigned {0})#{2}}}>(unsigned {0}, int)"
)
SHORT = "xgb::ParallelFor<unsigned {0}, xgb::Tree::{1}(…)::{{lambda(…)#{2}}}>(…)"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("main", "main"),
        ("f()", "f()"),
        ("void solve<double>(Grid<double>&) const", "solve<…>(…) const"),
        (LOOP.format("long", "Boost", 1), "xgb::ParallelFor<…>(…)"),
        ("unsigned long (anonymous namespace)::f<3>(int)", "{anonymous}::f<…>(…)"),
        ("std::vector<int, A<int> > A<B>::g<3>(int (*)(int))", "A<…>::g<…>(…)"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(…)#1}::operator()(…) const"),
        ("bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>(…)"),
        ("std::ostream& operator<<(std::ostream&, A)", "operator<<(…)"),
        ("A<B>::operator bool() const", "A<…>::operator bool() const"),
        ("A::operator->()", "A::operator->()"),
        ("<rayon::Iter<T> as core::Bar>::run", "<rayon::Iter<…> as core::Bar>::run"),
        ("f(int) (parallel region), a.cpp:40", "f(…) (parallel region), a.cpp:40"),
        ("a<b", "a<b"),
        ("a>b(", "a>b("),
    ],
)
def test_brackets_give_way_and_the_result_goes(name: str, short: str) -> None:
    assert short_name(name) == short


def test_names_show_the_first_bracket_that_tells_them_apart() -> None:
    names = [LOOP.format(*each) for each in (("long", "Boost", 1), ("long", "Boost", 2), ("int", "Boost", 2))]
    assert [*short_names(names).values()] == [
        SHORT.format(*each) for each in (("long", "Boost", 1), ("long", "Boost", 2), ("int", "Boost", 2))
    ]
    of_two = ["f<int, A<int>, B, C>(X)", "f<int, A<long>, B, C>(X)", "g<int>(X)"]
    assert [*short_names(of_two).values()] == ["f<…, A<int>, …>(…)", "f<…, A<long>, …>(…)", "g<…>(…)"]
    assert [*short_names(["f(int)", "f(int, int)"]).values()] == ["f(int)", "f(int, int)"]


def test_names_that_nothing_shorter_tells_apart_stay_whole() -> None:
    names = ["int f<3>(int)", "long f<3>(int)"]
    assert [*short_names(names).values()] == ["f<…>(…)", "long f<3>(int)"]


@given(st.lists(st.text(alphabet="ab<>(), :{}-", max_size=30) | st.sampled_from([LOOP, "a::b<c>(d)"]), max_size=6))
def test_different_names_stay_different_whatever_they_are(names: list[str]) -> None:
    short = short_names(names)
    assert len(set(short.values())) == len(set(names)) == len(short)
