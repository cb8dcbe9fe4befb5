import pytest

from numapredict.predictor.variables.session import names_in_words


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["i", None, "i", "i", None], "i (3 of them), variables without a name (2 of them)"),
        ([None], "a variable without a name"),
        (["a", "b", "c", "a", "d"], "a (2 of them), b, c, ..."),
    ],
)
def test_variables_of_one_name_are_said_once_with_their_number(names: list[str | None], said: str) -> None:
    assert names_in_words(names) == said
