"""What can be wrong with a table: headers, rows, ranks and scores; and how equal scores are ordered."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from formats.format_splits import make_split
from formats.twelve import IMAGES, QUERIES, written
from formats.writers import codes, faults, read

from evaluator import protocols
from evaluator.types import Split


class TestTables:
    def test_a_header_is_needed(self, split: Split) -> None:
        without = written("csv").partition(b"\n")[2]
        assert codes(split, without) == ["csv-header"]
        (fault,) = faults(split, b"query,picture\n0,100\n")
        assert (fault.code, fault.expected) == ("csv-header", "a column image and a column rank or score")

    def test_a_header_of_millions_of_names_is_not_looked_through(self, split: Split) -> None:
        """180 MB of them once took over two minutes before the answer "no query"."""
        start = time.process_time()
        (fault,) = faults(split, b"query,image,rank" + b",a" * 5_000_000 + b"\n0,100,1\n")
        assert (fault.code, fault.found) == ("csv-header", "a first line of 10,000 characters or more")
        assert time.process_time() - start < 2

    @pytest.mark.parametrize("delimiter", [b"\t", b";"])
    def test_other_delimiters_and_more_columns(self, split: Split, delimiter: bytes) -> None:
        content = written("csv").replace(b",", delimiter)
        numbered = b"\r\n".join(
            (b"" if not line else str(number).encode() if number else b"") + delimiter + line
            for number, line in enumerate(content.split(b"\r\n"))
            if line
        )
        assert read(split, numbered).images.tolist() == read(split, written("csv")).images.tolist()

    def test_a_row_that_does_not_fit(self, split: Split) -> None:
        lines = written("csv").split(b"\r\n")
        lines[5] += b",more"
        found = faults(split, b"\r\n".join(lines))
        assert (found[0].code, found[0].place, found[0].found) == ("csv-row", "line 6", "4 fields")

    def test_quotes_that_never_end(self, split: Split) -> None:
        assert codes(split, b'query,image,rank\n0,"100,1\n') == ["truncated"]
        assert codes(split, b'query,image,rank\n0,"100"x,1\n') == ["csv-row"]

    @pytest.mark.parametrize("rank", ["1.5", "first", "", "-1", "NaN"])
    def test_ranks_are_whole_numbers(self, split: Split, rank: str) -> None:
        content = b"query,image,rank\n0,100," + rank.encode() + b"\n"
        assert codes(split, content)[0] == "bad-rank"

    def test_equal_ranks(self, split: Split) -> None:
        found = faults(split, written("csv") + b"3,105,5\r\n")
        assert found[0].code == "repeated-rank"
        assert found[0].found == "rank 5 on lines 42 and 62"

    def test_ranks_may_begin_at_zero_and_leave_gaps(self, split: Split) -> None:
        rows = [
            f"{query},{image},{rank}" for query in QUERIES for rank, image in zip((0, 2, 3, 7, 9), IMAGES, strict=False)
        ]
        content = "\n".join(["query,image,rank", *rows]).encode()
        assert read(split, content).images.tolist() == [[0, 1, 2, 3, 4]] * 12

    @pytest.mark.parametrize("form", ["csv-scores", "trec"])
    @pytest.mark.parametrize(
        ("score", "code"),
        [(b"nan", "not-finite"), (b"-inf", "not-finite"), (b"high", "bad-score"), (b"1_0", "bad-score")],
    )
    def test_scores_are_finite_numbers(self, split: Split, form: str, score: bytes, code: str) -> None:
        lines = written(form).splitlines()
        pattern = rb"^[^,]+" if form == "csv-scores" else rb"[-0-9.]+(?= run)"
        lines[7] = re.sub(pattern, score, lines[7])
        found = faults(split, b"\n".join(lines))
        assert (found[0].code, found[0].place) == (code, "line 8")

    def test_trec_lines_have_six_columns(self, split: Split) -> None:
        lines = written("trec").split(b"\n")
        lines[3] = lines[3].replace(b" run", b"")
        found = faults(split, b"\n".join(lines))
        assert (found[0].code, found[0].place) == ("trec-columns", "line 4")

    def test_faults_name_the_line_of_the_image(self, split: Split) -> None:
        lines = written("trec").split(b"\n")
        lines[17] = lines[17].replace(b"Q0 102", b"Q0 999")
        (fault,) = faults(split, b"\n".join(lines))
        assert (fault.code, fault.place) == ("unknown-image", 'query "3", line 18, rank 3')

    @pytest.mark.parametrize("form", ["csv", "trec"])
    def test_equal_scores_follow_the_gallery_order(self, form: str) -> None:
        """Decision 19: byte order of ids, so "9" follows "10"; never the order of the file (public report A30)."""
        split = make_split(["0"], ["9", "10", "a", "B"], protocol=replace(protocols.CIRCO, list_length=4))
        rows = [("a", 1.0), ("9", 1.0), ("10", 1.0), ("B", 2.0)]
        for order in (rows, rows[::-1]):
            if form == "csv":
                content = "query,image,score\n" + "".join(f"0,{image},{score}\n" for image, score in order)
            else:
                content = "".join(f"0 Q0 {image} 1 {score} r\n" for image, score in order)
            assert [split.images[image] for image in read(split, content.encode()).images[0]] == ["B", "10", "9", "a"]

    def test_the_rank_decides_where_there_is_a_score_too(self, split: Split) -> None:
        rows = [f"{query},{image},{rank},{rank}" for query in QUERIES for rank, image in enumerate(IMAGES)]
        content = "\n".join(["query,image,score,rank", *rows]).encode()
        assert read(split, content).images.tolist() == [list(range(10))] * 12
