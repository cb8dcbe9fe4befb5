import msgspec

from numapredict.predictor.variables.place_names import place_names
from tests.judged import judged_answer, place


def test_places_are_told_apart_by_what_differs() -> None:
    answer = judged_answer()
    one, other = place(8, "void fill<int>(Grid<int>&)"), place(8, "void fill<long>(Grid<long>&)")
    wrong, right = answer.variables
    variables = (msgspec.structs.replace(wrong, first_touch=one), msgspec.structs.replace(right, first_touch=other))
    both = place_names(msgspec.structs.replace(answer, variables=variables))
    assert [both(one), both(other)] == ["fill<int>(…), app.c:8", "fill<long>(…), app.c:8"]
    alone = place_names(msgspec.structs.replace(answer, variables=variables[:1]))
    assert alone(one) == one.text == "fill<…>(…), app.c:8"
