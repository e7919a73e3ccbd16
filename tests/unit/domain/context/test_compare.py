"""The comparison of two recalls, which holds no text and costs little."""

from memoir.domain.context.compare import MAX_COMPARED_BYTES, compare_recalls, similarity


def test_equal_recalls_are_equal() -> None:
    told = compare_recalls({"a": "text", "b": ""}, {"a": "text"})
    assert (told.equal, told.similarity, told.in_both) == (True, 1.0, ("a",))
    assert (told.only_here, told.only_there) == ((), ())


def test_what_only_one_side_has_is_named() -> None:
    told = compare_recalls({"personalization": "likes tea"}, {"memoryTable": "* 0:表", "compassMemory": " "})
    assert (told.equal, told.only_here, told.only_there) == (False, ("personalization",), ("memoryTable",))
    assert (told.bytes_here, told.bytes_there) == (9, 7)


def test_two_empty_recalls_are_equal() -> None:
    told = compare_recalls({}, {})
    assert (told.equal, told.similarity, told.bytes_here) == (True, 1.0, 0)


def test_similarity_counts_shared_grams_of_characters() -> None:
    assert similarity("abcd", "abcx") == 0.5
    assert similarity("abc", "xyz") == 0.0
    assert similarity("守卫接过钥匙", "守卫接过长剑") == 0.5
    assert similarity("ab", "ab") == 1.0
    assert similarity("", "abc") == 0.0


def test_repeated_grams_count_as_often_as_both_have_them() -> None:
    assert similarity("aaaaa", "aaa") == 0.5


def test_beyond_16_kib_nothing_is_compared() -> None:
    same = "x" * MAX_COMPARED_BYTES
    assert similarity(same + "abc" * 1000, same + "def" * 1000) == 1.0
