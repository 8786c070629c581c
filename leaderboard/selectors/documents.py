"""The project's own documents as pages: Markdown from ``docs/``, without raw HTML, every heading with an address."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

DOCS = Path(__file__).resolve().parents[2] / "docs"


@dataclass(frozen=True)
class Heading:
    """A heading of the second level, for the page's own contents."""

    anchor: str
    text: str


@dataclass(frozen=True)
class Document:
    """A rendered document."""

    title: str
    headings: tuple[Heading, ...]
    html: SafeString


def document(name: str) -> Document:
    """Return ``docs/<name>.md`` as a page. Raises FileNotFoundError."""
    path = DOCS / f"{name}.md"
    return _render(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=16)
def _render(text: str) -> Document:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    title, headings = "", []
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            words = _plain(tokens[position + 1])
            token.attrSet("id", slugify(words, allow_unicode=True))
            title = title or words
            if token.tag == "h2":
                headings.append(Heading(str(token.attrs["id"]), words))
        elif token.type in ("th_open", "td_open"):
            token.attrs.pop("style", None)  # an inline style, which the content security policy refuses
    html = reader.renderer.render(tokens, reader.options, {})
    return Document(title, tuple(headings), mark_safe(html))  # noqa: S308 (our own text, raw HTML off)


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])
