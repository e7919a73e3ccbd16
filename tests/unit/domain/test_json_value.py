import pytest

from memoir.domain.json_value import exact_value, json_text, part_text, same_json, shown


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ('{"a":1,"b":[1,2]}', '{"b":[1,2],"a":1}', True),
        ("[1,2]", "[2,1]", False),
        ("9007199254740993.0", "9007199254740992.0", False),
        ("9007199254740993", "9007199254740992", False),
        ("1e-7", "0.0000001", True),
        ("1.0", "1", False),
        ("1", "true", False),
        ('"1"', "1", False),
        ("null", "0", False),
        ("1e-99999999999999999999", "0.0", True),
    ],
)
def test_json_is_compared_by_value_and_numbers_exactly(first: str, second: str, same: bool) -> None:
    assert same_json(first, second) is same


def test_numbers_keep_their_spelling_and_members_their_order() -> None:
    text = '{"b":1.0,"a":[1e-7,9007199254740993,-0,"中\\n"],"c":null,"d":true}'
    assert json_text(exact_value(text)) == text
    assert part_text(text, "a") == '[1e-7,9007199254740993,-0,"中\\n"]'


def test_what_is_shown_is_one_line_with_sorted_members() -> None:
    assert shown(exact_value('{"b":1.0,"a":"x\\ny"}')) == '{"a":"x\\ny","b":1.0}'
    assert shown("  two\nlines ") == "two lines"
