"""Every way a file of every format can be wrong has its own code, place and remedy (decision 24, public report A10)."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from formats.format_splits import make_split
from formats.twelve import IMAGES, LISTS, QUERIES, written
from formats.writers import WRITERS, cirr, codes, faults, json_lines, plain, read

from evaluator import protocols
from evaluator.formats import Limits
from evaluator.types import Split

FORMATS = list(WRITERS)
JSON = ["cirr", "circo", "pinpoint", "json", "jsonl"]


@pytest.mark.parametrize("form", FORMATS)
class TestEveryFormat:
    def test_it_is_good_to_begin_with(self, split: Split, form: str) -> None:
        assert read(split, written(form)).images.shape == (12, 5)

    def test_truncated(self, split: Split, form: str) -> None:
        content = written(form)[:-5]
        found = codes(split, content)
        assert found[0] == "truncated"

    def test_empty(self, split: Split, form: str) -> None:
        assert codes(split, b"") == codes(split, b" \r\n\t") == codes(split, b"\xef\xbb\xbf") == ["empty-file"]

    def test_utf8_mark_and_crlf_are_taken(self, split: Split, form: str) -> None:
        content = b"\xef\xbb\xbf" + written(form).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        assert read(split, content).images.tolist() == read(split, written(form)).images.tolist()

    @pytest.mark.parametrize(
        ("encoding", "name"),
        [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-32", "UTF-32")],
    )
    def test_other_encodings_are_named(self, split: Split, form: str, encoding: str, name: str) -> None:
        (fault,) = faults(split, written(form).decode().encode(encoding))
        assert (fault.code, fault.found) == ("wrong-encoding", name)

    def test_latin_1_has_a_byte(self, split: Split, form: str) -> None:
        content = written(form).replace(b"103", "é".encode("latin-1"), 1)
        (fault,) = faults(split, content)
        offset = content.index("é".encode("latin-1"))
        assert (fault.code, fault.place) == ("wrong-encoding", f"byte {offset}")

    def test_missing_query(self, split: Split, form: str) -> None:
        (fault,) = faults(split, written(form, q3=None))
        assert (fault.code, fault.place) == ("missing-query", 'query "3"')

    def test_extra_query(self, split: Split, form: str) -> None:
        found = faults(split, written(form, q12=list(IMAGES[:5])))
        assert [(fault.code, fault.found) for fault in found] == [("unknown-query", '"12"')]
        assert 'query "12"' in found[0].place

    def test_unknown_image(self, split: Split, form: str) -> None:
        (fault,) = faults(split, written(form, q3=["100", "101", "999", "102", "103"]))
        assert (fault.code, fault.found) == ("unknown-image", '"999"')
        assert 'query "3"' in fault.place
        assert "rank 3" in fault.place

    def test_repeated_image_names_both_ranks(self, split: Split, form: str) -> None:
        """Public report A11."""
        (fault,) = faults(split, written(form, q3=["100", "101", "102", "103", "104", "101"]))
        assert (fault.code, fault.found) == ("repeated-image", '"101" at ranks 2 and 6')
        assert 'query "3"' in fault.place

    def test_one_image_ten_times(self, split: Split, form: str) -> None:
        (fault,) = faults(split, written(form, q3=["101"] * 10))
        assert (fault.code, fault.found) == ("repeated-image", '"101" at ranks 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10')

    def test_short_list(self, split: Split, form: str) -> None:
        (fault,) = faults(split, written(form, q3=["100", "101"]))
        assert (fault.code, fault.found, fault.expected) == ("list-too-short", "2 images", "at least 5")

    def test_three_defects_are_three_faults(self, split: Split, form: str) -> None:
        content = written(form, q1=["100", "101"], q3=["100", "100", "101", "102", "103"], q5=None)
        assert sorted(fault.code for fault in faults(split, content)) == [
            "list-too-short",
            "missing-query",
            "repeated-image",
        ]

    def test_a_thousand_of_one_kind_do_not_hide_another(self, form: str) -> None:
        split = make_split([str(query) for query in range(300)], IMAGES)
        bad = {str(query): ["100", "900", "901", "902"] for query in range(299)}
        found = faults(split, WRITERS[form](bad))
        assert len(found) == 100
        assert {fault.code for fault in found} == {"missing-query", "unknown-image"}

    def test_more_rows_than_a_ranking_may_have(self, split: Split, form: str) -> None:
        found = codes(split, written(form), limits=Limits(entries=20, containers=20))
        assert found[0] in ("too-many-entries", "too-many-lists")

    def test_larger_than_allowed(self, split: Split, form: str) -> None:
        assert codes(split, written(form), limits=Limits(unpacked_bytes=100)) == ["too-large"]


@pytest.mark.parametrize("form", JSON)
class TestJson:
    def test_repeated_query(self, split: Split, form: str) -> None:
        content = written(form)
        entry = re.search(rb'"11": (\{[^}]*\}|\[[^]]*\])|\{[^{}]*"query": "11"\}', content)
        assert entry
        separator = b"\n" if form == "jsonl" else b", "
        twice = content.replace(entry[0], entry[0] + separator + entry[0])
        assert codes(split, twice) == ["repeated-query"]

    @pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
    def test_tokens_that_are_not_json(self, split: Split, form: str, token: str) -> None:
        """Public report A13."""
        (fault,) = faults(split, _with_value(form, token))
        assert (fault.code, fault.found) == ("not-finite", token)
        assert 'query "' in fault.place
        assert "rank 4" in fault.place

    @pytest.mark.parametrize(
        ("token", "found"),
        [("true", "true"), ("null", "null"), ("103.0", "the number 103.0"), ("1e2", "the number 100.0")],
    )
    def test_ids_of_the_wrong_type(self, split: Split, form: str, token: str, found: str) -> None:
        """Public report A14."""
        (fault,) = faults(split, _with_value(form, token))
        assert (fault.code, fault.found) == ("wrong-id-type", found)

    def test_an_integer_is_the_same_as_its_digits(self, split: Split, form: str) -> None:
        as_number, as_text = read(split, _with_value(form, "103")), read(split, _with_value(form, '"103"'))
        assert as_number.images.tolist() == as_text.images.tolist()

    @pytest.mark.parametrize("token", ["[1]", '{"a": 1}', "[[[[[[1]]]]]]"])
    def test_nested_too_deep(self, split: Split, form: str, token: str) -> None:
        (fault,) = faults(split, _with_value(form, token))
        assert fault.code == "too-deep"

    def test_more_keys_than_memory_has_room_for(self, split: Split, form: str) -> None:
        """Counted before they are read: twelve million of them, in 144 MB, once took more than 3 GB."""
        assert codes(split, written(form), limits=Limits(keys=5))[0] == "too-many-queries"
        assert read(split, written(form), limits=Limits(keys=30)).images.shape == (12, 5)

    def test_nested_a_hundred_thousand_deep(self, split: Split, form: str) -> None:
        assert codes(split, _with_value(form, "[" * 100_000 + "]" * 100_000))[0] == "too-deep"

    def test_a_number_of_ten_thousand_digits(self, split: Split, form: str) -> None:
        assert codes(split, _with_value(form, "9" * 10_000))[0] == "number-too-long"

    def test_broken_in_the_middle(self, split: Split, form: str) -> None:
        found = faults(split, _with_value(form, "!"))
        assert found[0].code == "invalid-json"
        assert found[0].place.startswith("line ")

    def test_no_list(self, split: Split, form: str) -> None:
        content = re.sub(rb"\[[^]]*\]", b'"100"', written(form), count=1)
        assert codes(split, content) == ["not-a-list"]


def _with_value(form: str, token: str) -> bytes:
    """The good file with one image, at rank 4, replaced by ``token`` as it stands."""
    return re.sub(rb'"?103"?', token.encode(), written(form), count=1)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"[]", "a list"),
        (b'[{"query": "0"}]', "a list"),
        (b"null", "null"),
        (b"true", "true"),
        (b"12", "the number 12"),
        (b"NaN", "the number NaN"),
        (b'"text"', 'the text "text"'),
    ],
)
def test_wrong_top_type(split: Split, content: bytes, found: str) -> None:
    (fault,) = faults(split, content)
    assert (fault.code, fault.found) == ("wrong-top-type", found)


def test_no_query_at_all(split: Split) -> None:
    assert codes(split, b"{}") == codes(split, b"query,image,rank\n") == ["no-queries"]


def test_no_file(split: Split) -> None:
    assert codes(split) == ["no-file"]


def test_two_files_where_one_is_wanted(split: Split) -> None:
    assert codes(split, plain(LISTS), json_lines(LISTS)) == ["two-rankings"]


def test_faults_of_all_files_are_listed(split: Split) -> None:
    found = faults(split, b"", b"[]")
    assert [(fault.file, fault.code) for fault in found] == [("file0", "empty-file"), ("file1", "wrong-top-type")]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x93NUMPY\x01\x00", "a NumPy array"),
        (b"\x80\x04\x95\x10\x00", "a Python pickle, which is never opened"),
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"x" * 257 + b"ustar", "a tar archive"),
        (b"abc\x00def", "a zero byte"),
    ],
)
def test_binary_files_are_named(split: Split, content: bytes, kind: str) -> None:
    (fault,) = faults(split, content)
    assert (fault.code, fault.found) == ("binary-file", kind)


def test_text_of_no_known_format(split: Split) -> None:
    (fault,) = faults(split, b"Dear maintainers,\nmy ranking is attached.")
    assert (fault.code, fault.found) == ("unknown-format", '"Dear maintainers,"')


def test_long_text_is_never_echoed_whole(split: Split) -> None:
    for content in (b'{"' + b"x" * 10**6 + b'": ["' + b"y" * 10**6 + b'"]}', b"z" * 10**6, b"a,b,c," + b"d" * 10**6):
        assert all(len(str(fault)) < 1500 for fault in faults(split, content))


class TestCirr:
    """The header of the CIRR server's files."""

    @pytest.fixture
    def split(self) -> Split:
        sets = dict.fromkeys(range(12), IMAGES[1:6])
        protocol = replace(protocols.CIRR, list_length=5)
        return make_split(QUERIES, IMAGES, protocol=protocol, members=sets)

    def test_header_keys_may_stand_anywhere(self, split: Split) -> None:
        lists = {query: list(IMAGES[1:6]) for query in QUERIES}
        first = json.dumps({"version": "rc2", "metric": "recall", **lists}).encode()
        assert read(split, first).format == read(split, cirr(lists)).format == "cirr"

    def test_unknown_metric_and_version(self, split: Split) -> None:
        assert codes(split, json.dumps({"metric": "mAP", **LISTS}).encode()) == ["unknown-metric"]
        assert codes(split, json.dumps({"version": "rc2", **LISTS}).encode()) == ["unknown-metric"]
        wrong = {"metric": "recall", "version": "rc1", **{query: list(IMAGES[1:6]) for query in QUERIES}}
        assert codes(split, json.dumps(wrong).encode()) == ["unknown-version"]

    def test_the_reference_in_a_list_of_just_enough(self, split: Split) -> None:
        found = faults(split, cirr(LISTS))
        assert {fault.code for fault in found} == {"reference-in-list"}
        assert found[0].found == "5 images, the reference among them, which leaves 4"

    def test_the_subset_file(self, split: Split) -> None:
        main = cirr({query: list(IMAGES[1:6]) for query in QUERIES})
        good = {query: [IMAGES[3], IMAGES[0], IMAGES[1], IMAGES[5]] for query in QUERIES}
        ranking = read(split, main, cirr(good, "recall_subset"))
        assert ranking.members is not None
        assert ranking.members.tolist() == [[3, 1, 5]] * 12
        outside = {**good, "4": [IMAGES[1], IMAGES[9], IMAGES[2]]}
        (fault,) = faults(split, main, cirr(outside, "recall_subset"))
        assert (fault.code, fault.file, fault.found) == ("not-a-member", "file1", '"109"')
        short = {**good, "4": [IMAGES[1], IMAGES[2]]}
        assert codes(split, main, cirr(short, "recall_subset")) == ["list-too-short"]

    def test_a_split_without_image_sets_takes_no_subset_file(self) -> None:
        split = make_split(QUERIES, IMAGES)
        assert codes(split, plain(LISTS), cirr(LISTS, "recall_subset")) == ["subset-not-taken"]


class TestPinPoint:
    def test_retrieved_items_is_missing(self, split: Split) -> None:
        table = {query: {"retrieved_items": images} for query, images in LISTS.items()}
        content = json.dumps({**table, "3": {"items": LISTS["3"]}}).encode()
        assert codes(split, content) == ["no-retrieved-items"]

    def test_a_repeated_inner_key(self, split: Split) -> None:
        content = written("pinpoint").replace(b'"retrieved_items"', b'"retrieved_items": [], "retrieved_items"', 1)
        assert codes(split, content) == ["repeated-key"]


class TestJsonLines:
    def test_each_bad_line_is_named(self, split: Split) -> None:
        lines = written("jsonl").split(b"\n")
        lines[2], lines[4], lines[6] = b"{oops}", b"[1]", b'{"query": "6"}'
        found = faults(split, b"\n".join(lines))
        assert [(fault.code, fault.place) for fault in found[:3]] == [
            ("invalid-json", "line 3"),
            ("wrong-top-type", "line 5"),
            ("line-keys", "line 7"),
        ]
        assert [fault.place for fault in found[3:]] == [f'query "{query}"' for query in (2, 4, 6)]

    def test_a_line_cut_in_the_middle_of_the_file(self, split: Split) -> None:
        lines = written("jsonl").split(b"\n")
        lines[2] = lines[2][:10]
        found = faults(split, b"\n".join(lines))
        assert [(fault.code, fault.place) for fault in found] == [
            ("invalid-json", "line 3"),
            ("missing-query", 'query "2"'),
        ]

    def test_a_first_line_cut_short_is_still_json_lines(self, split: Split) -> None:
        found = faults(split, written("jsonl")[20:].replace(b"1", b'{"', 1))
        assert (found[0].code, found[0].place) == ("invalid-json", "line 1")

    @pytest.mark.parametrize("query", ["query_id", "qid", "pairid", "id"])
    @pytest.mark.parametrize("images", ["image_ids", "ranking", "retrieved_items", "candidates", "predictions"])
    def test_other_names_of_the_keys(self, split: Split, query: str, images: str) -> None:
        content = "\n".join(json.dumps({query: int(key), images: value}) for key, value in LISTS.items())
        assert read(split, content.encode()).format == "jsonl"

    def test_a_query_that_is_no_id(self, split: Split) -> None:
        content = written("jsonl").replace(b'"query": "3"', b'"query": [3]')
        assert codes(split, content) == ["too-deep", "missing-query"]
