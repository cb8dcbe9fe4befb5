from numapredict.collect.source.excerpt import Excerpt, excerpt_of

LINES = ("one", "two", "three", "four  ", "x" * 1000)


def test_the_lines_around_one_are_taken_as_far_as_there_are_any() -> None:
    assert excerpt_of(LINES, 1) == Excerpt(1, ("one", "two", "three"))
    assert excerpt_of(LINES, 3) == Excerpt(1, ("one", "two", "three", "four", "x" * 160))


def test_of_a_line_that_is_not_there_nothing_is_shown() -> None:
    assert [excerpt_of(LINES, line) for line in (0, -3, 6)] == [None] * 3
    assert excerpt_of((), 1) is None
