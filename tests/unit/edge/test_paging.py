import pytest

from memoir.edge.paging import (
    CONVERSATION,
    RECEIPT,
    next_page,
    read_before,
    read_before_round,
    read_limit,
)
from memoir.errors import RequestInvalid


def test_a_page_has_twenty_entries_unless_the_caller_says_otherwise() -> None:
    assert [read_limit({}), read_limit({"limit": "1"}), read_limit({"limit": "100"})] == [20, 1, 100]


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "", " 5", "five", "५", "9" * 5000])
def test_a_limit_out_of_range_is_refused(limit: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_limit({"limit": limit})
    assert refusal.value.path == "limit"


def test_next_is_what_before_takes() -> None:
    receipt, conversation = "0000000021#000001#table", "1793500000000#c:1"
    assert read_before({"before": next_page(receipt)}, RECEIPT) == receipt
    assert read_before({"before": next_page(conversation)}, CONVERSATION) == conversation
    assert read_before_round({"before": next_page("21")}) == 21
    assert read_before({}, RECEIPT) is None
    assert read_before_round({}) is None


FOREIGN = ["abc", "zzzz", "~", "T#0000000003#000001", "0", "D#memory", "\0", "x" * 9216, "", "01", "1 ", "-1"]


@pytest.mark.parametrize("before", ["!", "é", "abc", "/w==", "", "MQ", "MQ=", "MQ==\n", "MR==", " MQ=="])
def test_a_before_that_no_answer_gave_is_refused(before: str) -> None:
    for read in (
        lambda: read_before({"before": before}, RECEIPT),
        lambda: read_before_round({"before": before}),
    ):
        with pytest.raises(RequestInvalid) as refusal:
            read()
        assert (refusal.value.code, refusal.value.path) == ("before_invalid", "before")


@pytest.mark.parametrize("place", FOREIGN, ids=lambda text: text[:12])
def test_saleor_9521_a_before_of_another_route_is_refused(place: str) -> None:
    query = {"before": next_page(place)}
    for read in (
        lambda: read_before(query, RECEIPT),
        lambda: read_before(query, CONVERSATION),
        lambda: read_before_round(query),
    ):
        with pytest.raises(RequestInvalid) as refusal:
            read()
        assert refusal.value.code == "before_invalid"
