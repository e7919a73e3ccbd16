import pytest

from memoir.domain.revision import check_expected_revision
from memoir.errors import RequestInvalid


@pytest.mark.parametrize(("value", "revision"), [(0, 0), (7, 7), (7.0, 7), (2**53 - 2, 2**53 - 2), (-0.0, 0)])
def test_a_whole_number_in_range_is_a_revision(value: object, revision: int) -> None:
    assert check_expected_revision(value) == revision


@pytest.mark.parametrize(
    "value", [-1, 2**53 - 1, 2**53, 1e300, 7.5, True, False, "7", None, [], float("nan"), float("inf")]
)
def test_anything_else_is_refused_by_its_place(value: object) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        check_expected_revision(value)
    assert (refusal.value.code, refusal.value.path) == ("revision_invalid", "/expectedRevision")
