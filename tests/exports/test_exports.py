"""A table to take along says the same in every format, whatever people call their methods (public report A20)."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.exports import FORMATS, Field, Sheet, csv_text, json_text, latex, markdown, written

NASTY = (
    'A, "B" & C_1 % $x$',
    r"\input{/etc/passwd} ^^M ~ #1 {",
    "<img src=x onerror=alert(1)>",
    "=HYPERLINK(0)",
    "-1",
    "a|b\\|c",
    "مرحبا بالعالم",
    "emoji 👩🏽‍🚀 𝛂 漢字",
    "x" * 300,
    "two\nlines\r\nand\ttabs\u202e",
    "`code` **bold** [link](javascript:alert(1)) $x$",
    "",
)
FIELDS = (
    Field("rank", "#", number=True),
    Field("method", "Method"),
    Field("Recall@10:Full", "Full", "Recall@10", number=True),
    Field("Recall@10:V", "V", "Recall@10", number=True),
    Field("Delta", "Δ", "ΔmAP", number=True),
)


def sheet(*names: str) -> Sheet:
    values = tuple((n + 1, name, 0.1 + 0.2, None, -1 / 3) for n, name in enumerate(names))
    shown = tuple((str(n + 1), name, "30.00", "–", "-33.33") for n, name in enumerate(names))
    return Sheet("board", "A board: 100 % & more", FIELDS, values, shown, ("one note_", "<two>"), "https://a.example/b")


def test_csv_has_one_head_a_field_and_numbers_to_the_last_bit() -> None:
    rows = list(csv.reader(io.StringIO(csv_text(sheet(*NASTY)))))
    assert rows[0] == ["rank", "method", "Recall@10:Full", "Recall@10:V", "Delta"]
    assert len(rows) == 1 + len(NASTY)
    for number, (row, name) in enumerate(zip(rows[1:], NASTY, strict=True), start=1):
        assert row[0] == str(number)
        assert row[1].removeprefix("'") == name
        assert (float(row[2]), row[3], float(row[4])) == (0.1 + 0.2, "", -1 / 3)


def test_a_spreadsheet_runs_nothing_and_a_negative_number_stays_one() -> None:
    text = csv_text(sheet("=1+1", "@x", "+y", "\tz"))
    names = [row[1] for row in csv.reader(io.StringIO(text))][1:]
    assert all(name.startswith("'") for name in names)
    assert "'-0.33" not in text


@given(st.lists(st.text(), max_size=4))
def test_csv_and_json_read_back_as_they_were(names: list[str]) -> None:
    names = [name.replace("\r", " ").replace("\0", " ") for name in names]
    made = sheet(*names)
    rows = list(csv.reader(io.StringIO(csv_text(made), newline="")))
    assert [row[1].removeprefix("'") for row in rows[1:]] == [name.removeprefix("'") for name in names]
    parsed = json.loads(json_text(made))
    assert [tuple(row.values()) for row in parsed["rows"]] == list(made.values)


def test_json_refuses_what_is_not_finite() -> None:
    broken = Sheet("x", "x", FIELDS[:1], ((float("nan"),),), (("–",),))
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(broken)


TOKEN = re.compile(
    r"\\(?:[A-Za-z]+|[\\{}$&#_%])"  # a command, or an escaped character
    r"|[{}&]|%.*|[^\\{}$&#_%^~\n]|\n|~"
)


def rows_of(text: str) -> list[list[str]]:
    """Return the table's rows; fails where a character would mean something to LaTeX that was not meant."""
    body = text[text.index(r"\midrule") + len(r"\midrule") : text.index(r"\bottomrule")]
    rows: list[list[str]] = [[""]]
    depth = at = 0
    while at < len(body):
        token = TOKEN.match(body, at)
        assert token, f"LaTeX would read {body[at : at + 20]!r} as markup"
        word, at = token[0], token.end()
        assert not word.startswith("%"), "the rest of a line would be lost"
        depth += (word == "{") - (word == "}")
        assert depth >= 0
        if word == "&" and not depth:
            rows[-1].append("")
        elif word == r"\\" and not depth:
            rows.append([""])
        else:
            rows[-1][-1] += word
    assert depth == 0
    return [row for row in rows if row != ["\n"]]


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_latex_is_a_table_of_so_many_rows_and_cells_whatever_the_names(names: list[str]) -> None:
    rows = rows_of(latex(sheet(*names)))
    assert len(rows) == len(names)
    assert {len(row) for row in rows} == {len(FIELDS)}


def test_latex_keeps_every_nasty_name_in_its_cell() -> None:
    rows = rows_of(latex(sheet(*NASTY)))
    assert len(rows) == len(NASTY)
    assert r"\textless{}img src=x" in rows[2][1]
    assert r"\cirboardtext{👩}{U+1F469}" in rows[7][1]
    assert rows[0][4].strip() == r"\ensuremath{-}33.33"


ENGINES = [engine for engine in ("pdflatex", "lualatex") if shutil.which(engine)]
"""Where LaTeX is not installed, the grammar above is what is checked."""

if ENGINES:

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.slow
    def test_latex_compiles(engine: str, tmp_path: Path) -> None:
        packages = r"\usepackage[T1]{fontenc}\usepackage{textcomp}\usepackage{booktabs}"
        document = rf"\documentclass{{article}}{packages}\begin{{document}}{latex(sheet(*NASTY))}\end{{document}}"
        (tmp_path / "table.tex").write_text(document, encoding="utf-8")
        command = [engine, "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-3000:]


def test_markdown_prints_names_as_they_are() -> None:
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown(sheet(*NASTY)))
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html)
    assert len(cells) == len(NASTY) * len(FIELDS)
    assert "<img" not in html
    assert '<a href="javascript' not in html
    assert "<strong>bold" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in cells[2 * len(FIELDS) + 1]
    assert "A, &quot;B&quot; &amp; C_1 % $x$" in cells[1]


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_markdown_is_a_table_of_so_many_cells_whatever_the_names(names: list[str]) -> None:
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown(sheet(*names)))
    assert html.count("<td") == len(names) * len(FIELDS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_written(name: str) -> None:
    assert written(sheet("a"), name)
