from numapredict.predictor.api.notebook import notebook_table
from tests.html_document import Document


def test_titles_stand_beside_their_texts() -> None:
    found = Document(notebook_table("what", [("one", "1\n2"), ("two", "3")]))
    assert found.table("what") == [["one", "12"], ["two", "3"]]
    assert found.texts["th"] == ["one", "two"]


def test_nothing_of_a_text_is_markup() -> None:
    evil = "<script>alert('&')</script>\u202e"
    found = notebook_table(evil, [(evil, evil)])
    assert "<script" not in found
    assert "\u202e" not in found
    assert found.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)") == 3
