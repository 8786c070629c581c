"""The rules of decisions 19 to 23 that no single format owns: spellings of ids, galleries, the reference, lengths."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from formats.format_splits import COCO, make_split
from formats.writers import codes, faults, lists_of, plain, read

from evaluator import protocols
from evaluator.errors import EvaluatorError, SubmissionError
from evaluator.formats import FORMATS, SourceFile, read_run, templates
from evaluator.types import Lookalike, Split

CIRCO4 = replace(protocols.CIRCO, list_length=4)


def test_leading_zeros_make_another_id() -> None:
    split = make_split(["12"], ["1", "2", "3", "45"])
    (fault,) = faults(split, plain({"012": ["1", "2", "3", "45"]}))[:1]
    assert (fault.code, fault.remedy) == ("leading-zeros", 'Did you mean "12"?')
    (fault,) = faults(split, plain({"12": ["1", "2", "3", "045"]}))
    assert (fault.code, fault.remedy) == ("leading-zeros", 'Did you mean "45"?')


@pytest.mark.parametrize("name", ["B00CMPE0C0.jpg", "B00CMPE0C0.PNG", "images/B00CMPE0C0.jpeg", "dev\\B00CMPE0C0.png"])
def test_file_names_name_the_likely_id(name: str) -> None:
    split = make_split(["q"], ["B00CMPE0C0", "b", "c", "d"])
    (fault,) = faults(split, plain({"q": [name, "b", "c", "d"]}))
    assert (fault.code, fault.remedy) == ("image-suffix", 'Did you mean "B00CMPE0C0"?')


def test_coco_file_names_and_padded_spaces_name_the_likely_id() -> None:
    split = make_split(["0"], ["12345", "2", "3", "4"])
    (fault,) = faults(split, plain({"0": ["000000012345.jpg", "2", "3", "4"]}))
    assert (fault.code, fault.remedy) == ("image-suffix", 'Did you mean "12345"?')
    (fault,) = faults(split, plain({"0": [" 12345", "2", "3", "4"]}))
    assert (fault.code, fault.remedy) == ("unknown-image", 'Did you mean "12345"?')


def test_official_spellings_are_known_and_name_the_same_thing() -> None:
    split = make_split(["query_00001"], ["1", "2", "3", "4"], aliases={"00001": 0}, prefix="circo_img_")
    for query in ("00001", "query_00001"):
        assert read(split, plain({query: ["circo_img_4", "3", "circo_img_2", "1"]})).images.tolist() == [[3, 2, 1, 0]]
    twice = faults(split, plain({"00001": ["1", "2", "3", "4"], "query_00001": ["1", "2", "3", "4"]}))
    assert [fault.code for fault in twice] == ["repeated-query"]
    again = faults(split, plain({"00001": ["circo_img_4", "3", "2", "4"]}))
    assert [(fault.code, fault.found) for fault in again] == [("repeated-image", '"4" at ranks 1 and 4')]


def test_a_list_may_be_the_whole_gallery_but_not_shorter() -> None:
    split = make_split(["0"], list("abc"), protocol=CIRCO4)
    assert read(split, plain({"0": list("cab")})).images.tolist() == [[2, 0, 1]]
    (fault,) = faults(split, plain({"0": list("ca")}))
    assert (fault.code, fault.expected) == ("list-too-short", "at least 3")


def test_lists_of_different_lengths_are_padded() -> None:
    split = make_split(["0", "1"], list("abcdef"))
    ranking = read(split, plain({"1": list("fedcba"), "0": list("abcd")}))
    assert ranking.images.tolist() == [[0, 1, 2, 3, -1, -1], [5, 4, 3, 2, 1, 0]]
    assert ranking.length.tolist() == [4, 6]


def test_only_the_reference_itself_is_dropped() -> None:
    """Decision 20: by id, wherever it stands; both of them where a query has two."""
    protocol = replace(CIRCO4, remove_reference=True)
    split = make_split(["0", "1", "2"], list("abcdefg"), protocol=protocol, references=["a", "cb", "g"])
    ranking = read(split, plain({"0": list("bacdef"), "1": list("gabcfed"), "2": list("abcdef")}))
    assert lists_of(ranking, split) == {"0": list("bcdef"), "1": list("gafed"), "2": list("abcdef")}
    kept = make_split(["0"], list("abcdefg"), protocol=CIRCO4)
    assert lists_of(read(kept, plain({"0": list("bacd")})), kept) == {"0": list("bacd")}


def test_fifty_with_the_reference_among_them_are_forty_nine() -> None:
    protocol = replace(CIRCO4, remove_reference=True)
    split = make_split(["0"], list("abcdefg"), protocol=protocol)
    (fault,) = faults(split, plain({"0": list("bacd")}))
    assert fault.code == "reference-in-list"
    assert "cut the list" in fault.remedy
    (fault,) = faults(split, plain({"0": list("bca")}))
    assert fault.code == "list-too-short"


def test_the_whole_gallery_without_the_reference_is_long_enough() -> None:
    protocol = replace(CIRCO4, remove_reference=True)
    split = make_split(["0"], list("abcd"), protocol=protocol)
    for lists in (list("bcd"), list("bacd")):
        assert lists_of(read(split, plain({"0": lists})), split) == {"0": list("bcd")}


def test_endless_repeats_are_told_in_short() -> None:
    split = make_split(["0"], list("abcd"))
    (fault,) = faults(split, plain({"0": ["a"] * 50}))
    assert fault.found.endswith(", 19, 20 and 30 more")


def test_many_faults_are_counted_not_looked_at_one_by_one() -> None:
    split = make_split([str(query) for query in range(100)], list("abcd"))
    with pytest.raises(SubmissionError) as caught:
        read(split, plain({query: ["x"] * 500 for query in split.query_ids}))
    assert len(caught.value.faults) == 100
    assert len(caught.value.faults) + caught.value.more == 50_000


def test_each_query_has_its_own_gallery() -> None:
    split = make_split(
        ["0", "1"],
        list("abcdefgh"),
        galleries={"dress": list("abcde"), "shirt": list("defgh")},
        gallery_of=[0, 1],
    )
    assert read(split, plain({"0": list("abcd"), "1": list("defg")})).images.shape == (2, 4)
    (fault,) = faults(split, plain({"0": list("abcf"), "1": list("defg")}))
    assert (fault.code, fault.found, fault.expected) == (
        "not-in-gallery",
        '"f"',
        "an image of this query's gallery, dress",
    )


class TestOpenGallery:
    """Decision 42: the list is not at hand, so well-formed ids are accepted unseen."""

    @pytest.fixture
    def split(self) -> Split:
        return make_split(["0", "1"], ["7", "8"], pattern=COCO, prefix="circo_img_")

    def test_unseen_ids_follow_the_known_ones(self, split: Split) -> None:
        content = json.dumps({"0": [7, 100, 8, 200], "1": ["circo_img_200", "8", 300, "7"]}).encode()
        ranking = read(split, content)
        assert ranking.unknown == ("100", "200", "300")
        assert ranking.images.tolist() == [[0, 2, 1, 3], [3, 1, 4, 0]]

    @pytest.mark.parametrize(
        ("written", "code"),
        [
            ("x12", "unknown-image"),
            ("12.5", "unknown-image"),
            ("012", "leading-zeros"),
            ("٣", "unknown-image"),
            ("12.jpg", "image-suffix"),
        ],
    )
    def test_ids_that_are_not_well_formed(self, split: Split, written: str, code: str) -> None:
        assert codes(split, plain({"0": ["7", "8", "9", written], "1": list("1234")})) == [code]

    def test_a_loose_pattern_still_tells_012_from_12(self) -> None:
        split = make_split(["0"], ["7"], pattern="[0-9]+")
        assert codes(split, plain({"0": ["7", "8", "9", "012"]})) == ["leading-zeros"]

    @pytest.mark.parametrize("written", ["a\ud800", "a\u0000", "a\nb"])
    def test_even_the_loosest_pattern_takes_only_what_can_be_printed(self, written: str) -> None:
        split = make_split(["0"], ["7"], pattern="(?s:.*)")
        content = json.dumps({"0": ["7", "8", "9", written]}).encode()
        assert codes(split, content) == ["unknown-image"]

    def test_leading_zeros_belong_to_ids_of_a_fixed_width(self) -> None:
        split = make_split(["0"], ["0007"], pattern="[0-9]{4}")
        assert read(split, plain({"0": ["0007", "0008", "0009", "0010"]})).unknown == ("0008", "0009", "0010")

    def test_repeats_are_found_among_unseen_ids(self, split: Split) -> None:
        (fault,) = faults(split, plain({"0": ["5", "circo_img_5", "6", "7"], "1": list("1234")}))
        assert (fault.code, fault.found) == ("repeated-image", '"5" at ranks 1 and 2')

    def test_a_broken_pattern_is_our_fault(self) -> None:
        split = make_split(["0"], ["7"], pattern="[")
        with pytest.raises(EvaluatorError):
            read(split, plain({"0": ["7", "8", "9", "10"]}))


class TestLookalikes:
    def test_an_overlap_by_chance_is_no_lookalike(self) -> None:
        other = Lookalike("other", frozenset("123456789"))
        split = make_split(list("123"), list("abcd"), lookalikes=[other])
        assert codes(split, plain({query: list("abcd") for query in "12"})) == ["missing-query"]

    def test_a_split_within_the_other_gallery_is_never_told_so(self) -> None:
        other = Lookalike("other", images=frozenset("abcdef"))
        split = make_split(["0"], list("abcd"), lookalikes=[other])
        assert read(split, plain({"0": list("abcd")})).format

    def test_the_sentence_of_the_lookalike_is_the_remedy(self) -> None:
        other = Lookalike("other", frozenset("678"), sentence="Send it to other.")
        split = make_split(list("012"), list("abcd"), lookalikes=[other])
        found = faults(split, plain({query: list("abcd") for query in "678"}))
        assert (found[0].code, found[0].found, found[0].remedy) == (
            "other-split",
            "these ids look like other",
            "Send it to other.",
        )

    def test_images_alone(self) -> None:
        other = Lookalike("val", images=frozenset("abcd"))
        split = make_split(["0"], list("abcdefgh"), lookalikes=[other])
        (fault,) = faults(split, plain({"0": list("abcd")}))
        assert (fault.code, fault.found) == ("other-gallery", "only images of val: ranked over the val gallery")
        assert read(split, plain({"0": list("abce")})).format


def test_progress_counts_every_file_and_the_check() -> None:
    split = make_split(["0"], list("abcd"))
    steps: list[tuple[int, int]] = []
    read_run([SourceFile("a", plain({"0": list("abcd")}))], split, progress=lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)]


@pytest.mark.parametrize("protocol", [protocols.CIRR, protocols.CIRCO, protocols.PINPOINT, protocols.FASHIONIQ])
def test_templates_lack_nothing_but_images(protocol: protocols.Protocol) -> None:
    queries = ["query_00001", "query_00002"]
    aliases = {"00001": 0, "00002": 1}
    split = make_split(queries, list("abcd"), protocol=protocol, aliases=aliases, members={0: "bcd", 1: "bcd"})
    files = templates(split)
    assert len(files) >= 4
    for name, content in files.items():
        found = faults(split, content)
        ranks = {"bad-rank", "no-queries"}
        allowed = ranks if ".ranks." in name else {"list-too-short", "unknown-image", "no-main-ranking"}
        assert {fault.code for fault in found} <= allowed, name


def test_templates_use_the_official_spelling() -> None:
    split = make_split(["query_00001"], list("abcd"), protocol=protocols.PINPOINT, aliases={"00001": 0})
    assert templates(split)["tiny.retrieved_items.json"] == b'{\n"00001": {"retrieved_items": []}\n}\n'
    assert set(FORMATS) == {"cirr", "circo", "pinpoint", "json", "jsonl", "csv", "trec", "judged-ranks"}
