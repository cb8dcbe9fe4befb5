from numapredict.predictor.api.html import table
from tests.html_document import Document


def test_titles_stand_beside_their_texts() -> None:
    found = Document(table("what", [("one", "1"), ("two", "2")], ("to apply it", "run 'a b'")))
    assert found.texts["th"] == ["one", "two", "to apply it"]
    assert found.texts["td"] == ["1", "2", "run 'a b'"]
    assert found.texts["code"] == ["run 'a b'"]


def test_nothing_of_a_text_is_markup() -> None:
    evil = "<script>alert('&')</script>\u202e"
    found = table(evil, [(evil, evil)], (evil, evil))
    assert "<script" not in found
    assert "\u202e" not in found
    assert found.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)") == 5
