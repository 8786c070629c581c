r"""LaTeX: a ``booktabs`` table that compiles with pdfLaTeX, XeLaTeX and LuaLaTeX, whatever people call their methods.

Letters that pdfLaTeX's fonts lack, such as Arabic or emoji, stand in the file twice: as they are, for the engines that
read Unicode, and as ``U+1F600`` for the one that does not. ``\cirboardtext`` at the top of the file chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from leaderboard.exports.sheet import Field, Sheet, one_line

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",  # two or three of them would become dashes
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{PRIME}": r"\ensuremath{'}",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "\N{ALMOST EQUAL TO}": r"\ensuremath{\approx}",
    "\N{GREEK CAPITAL LETTER DELTA}": r"\ensuremath{\Delta}",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
}
_KNOWN = re.compile(r"[ -~¡-¬®-ſ]")
"""What the usual fonts have: ASCII, and the letters of Latin-1 and Latin Extended-A."""
_NUMBER = re.compile(r"-?[\d.,]+")
_PREAMBLE = r"""% Needs \usepackage[T1]{fontenc}, \usepackage{textcomp} and \usepackage{booktabs}.
\providecommand{\cirboardtext}[2]{\ifdefined\Umathchar#1\else\texttt{#2}\fi}"""


def latex(sheet: Sheet) -> str:
    """Return a ``table`` environment with caption, grouped heads and rows."""
    columns = "".join("r" if field.number else "l" for field in sheet.fields)
    lines = [
        _PREAMBLE,
        r"\begin{table}",
        rf"\caption{{{escaped(sheet.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *_heads(sheet.fields),
        r"\midrule",
        *(_row([_cell(shown) for shown in row]) for row in sheet.shown),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {escaped(note)}" for note in sheet.notes),
        r"\end{table}",
        *([f"% {one_line(sheet.address)}"] if sheet.address else []),
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return words that LaTeX prints as they are."""
    return "".join(_escaped(char) for char in one_line(text))


def _escaped(char: str) -> str:
    if char in _SPECIAL:
        return _SPECIAL[char]
    if _KNOWN.fullmatch(char):
        return char
    return rf"\cirboardtext{{{char}}}{{U+{ord(char):04X}}}"


def _cell(shown: str) -> str:
    if _NUMBER.fullmatch(shown):
        return shown.replace("-", r"\ensuremath{-}")
    return escaped(shown)


def _heads(fields: tuple[Field, ...]) -> Iterator[str]:
    """Yield one row of heads, or two with a rule under each heading that spans several."""
    spans = [(group, len(list(members))) for group, members in groupby(fields, key=lambda field: field.group)]
    if any(group for group, _ in spans):
        yield _row([rf"\multicolumn{{{count}}}{{c}}{{{escaped(group)}}}" for group, count in spans])
        yield "".join(_rules(spans))
    yield _row([escaped(field.label) for field in fields])


def _rules(spans: list[tuple[str, int]]) -> Iterator[str]:
    start = 1
    for group, count in spans:
        if group:
            yield rf"\cmidrule(lr){{{start}-{start + count - 1}}}"
        start += count


def _row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
