import pytest

from memoir.domain.scope import UserScope, check_conversation_id, check_opaque_id
from memoir.errors import RequestInvalid


@pytest.mark.parametrize("value", ["a", "0", "A.b_c:d@e-f", "a" * 128])
def test_a_conversation_id_of_the_allowed_characters_is_accepted(value: str) -> None:
    assert check_conversation_id(value) == value


@pytest.mark.parametrize(
    "value", ["", "-a", ".a", "_a", "a b", "a/b", "a#b", "a%23b", "中", "a" * 129, "a\n", "é", "a\u0301"]
)
def test_any_other_conversation_id_is_refused(value: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        check_conversation_id(value)
    assert refusal.value.code == "conversation_id_invalid"


@pytest.mark.parametrize("value", ["u", "用户", "a#b", "a%23b", "a/b c", "x" * 128])
def test_a_user_id_is_taken_as_it_is(value: str) -> None:
    assert check_opaque_id(value, path="x-user-id") == value


@pytest.mark.parametrize("value", ["", " ", "*", "%", "#", "a\n", "a\u0000", "a\u200b", "x" * 129])
def test_what_is_no_id_or_reads_like_a_wildcard_is_refused(value: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        check_opaque_id(value, path="x-user-id")
    assert refusal.value.path == "x-user-id"


def test_a_conversation_belongs_to_its_user() -> None:
    owner = UserScope(product="p", user="u")
    assert owner.conversation("c").owner == owner
