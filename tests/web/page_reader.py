"""Reads a page as a person would: rows of a table, links, states; with the standard library's parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "img", "br", "hr"}


@dataclass
class Node:
    """One element."""

    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    @property
    def text(self) -> str:
        """All text inside, blanks tidied."""
        return " ".join("".join(self._parts()).split())

    def _parts(self) -> list[str]:
        return [part if isinstance(part, str) else f" {part.text} " for part in self.children]

    def all(self, tag: str, css_class: str = "") -> list[Node]:
        """Return every element below with this tag and class, in order."""
        found = []
        for child in self.children:
            if isinstance(child, Node):
                if child.tag == tag and (not css_class or css_class in child.classes):
                    found.append(child)
                found += child.all(tag, css_class)
        return found

    def first(self, tag: str, css_class: str = "") -> Node:
        return self.all(tag, css_class)[0]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        while len(self.open) > 1 and self.open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(html: str) -> Node:
    """Return a page's tree."""
    builder = _Builder()
    builder.feed(html)
    return builder.root


@dataclass(frozen=True)
class BoardRow:
    """One row of a board as it is read."""

    rank: str
    method: str
    marks: list[str]
    cells: list[str]
    why: str


def board_rows(html: str) -> list[BoardRow]:
    """Return the rows of a board's page in order, ranked and unranked."""
    table = read(html).first("table", "board")
    return [_row(row) for body in table.all("tbody") for row in body.all("tr") if row.all("th", "method")]


def _row(row: Node) -> BoardRow:
    head = row.first("th", "method")
    return BoardRow(
        rank=row.first("td", "rank").text,
        method=head.first("a").text,
        marks=[mark.text for mark in head.all("span", "mark")],
        cells=[cell.text for cell in row.all("td", "value")],
        why=" ".join(part.text for part in head.all("span", "why")),
    )


def ranked(html: str) -> list[tuple[str, str]]:
    """Return (rank, method) of every row."""
    return [(row.rank, row.method) for row in board_rows(html)]
