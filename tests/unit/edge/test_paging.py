import pytest

from memoir.edge.paging import next_page, read_before, read_limit
from memoir.errors import RequestInvalid


def test_a_page_has_twenty_entries_unless_the_caller_says_otherwise() -> None:
    assert [read_limit({}), read_limit({"limit": "1"}), read_limit({"limit": "100"})] == [20, 1, 100]


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "", " 5", "five", "५", "9" * 5000])
def test_a_limit_out_of_range_is_refused(limit: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_limit({"limit": limit})
    assert refusal.value.path == "limit"


def test_next_is_what_before_takes() -> None:
    assert read_before({"before": next_page("R#0000000021#000001#table")}) == "R#0000000021#000001#table"
    assert read_before({}) is None


@pytest.mark.parametrize("before", ["!", "é", "abc", "/w=="])
def test_a_before_that_no_answer_gave_is_refused(before: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_before({"before": before})
    assert refusal.value.code == "before_invalid"
