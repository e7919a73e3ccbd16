import re

import pytest

from memoir.edge.paging import (
    CONVERSATION,
    RECEIPT,
    ROUND,
    SCENARIO,
    next_page,
    read_before,
    read_limit,
)
from memoir.errors import RequestInvalid


def test_a_page_has_twenty_entries_unless_the_caller_says_otherwise() -> None:
    assert [read_limit({}), read_limit({"limit": "1"}), read_limit({"limit": "100"})] == [20, 1, 100]


@pytest.mark.parametrize(
    "limit", ["0", "101", "-1", "1.5", "", " 5", "five", "५", "00000000100000", "9" * 5000]
)
def test_a_limit_out_of_range_is_refused(limit: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_limit({"limit": limit})
    assert refusal.value.path == "limit"


@pytest.mark.parametrize(
    ("form", "place"),
    [
        (RECEIPT, "0000000021#000001#table"),
        (ROUND, "21"),
        (CONVERSATION, "1796300000000#c:1@x"),
        (SCENARIO, "阿莱娜 2"),
    ],
)
def test_next_is_what_before_takes(form: re.Pattern[str], place: str) -> None:
    assert read_before({"before": next_page(place)}, form) == place
    assert read_before({}, form) is None


FOREIGN = ["abc", "zzzz", "~", "T#0000000003#000001", "0", "D#memory", "\0", "x" * 9_000, "-1", "٣", ""]


@pytest.mark.parametrize("form", [RECEIPT, ROUND, CONVERSATION])
@pytest.mark.parametrize("place", FOREIGN)
def test_saleor_9521_a_before_that_holds_something_else_is_refused(form: re.Pattern[str], place: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_before({"before": next_page(place)}, form)
    assert refusal.value.code == "before_invalid"


@pytest.mark.parametrize("before", ["!", "é", "abc", "/w==", "", "MA==", "MjE=MjE=", "MjE"])
def test_a_before_that_no_answer_gave_is_refused(before: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_before({"before": before}, ROUND)
    assert refusal.value.code == "before_invalid"
