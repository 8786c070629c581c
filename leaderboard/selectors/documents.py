"""The project's own documents as pages: Markdown from ``docs/``, without raw HTML, every heading with an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("measures", "formats", "uploads", "audit", "glossary", "decisions")
"""The documents that readers of a board need. The others are for who runs or changes the project."""


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
    for token, inline in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and inline is not None:
            words = _plain(inline)
            _give_address(token, inline)
            title = title or words
            if token.tag == "h2":
                headings.append(Heading(str(token.attrs["id"]), words))
        elif token.type == "inline":
            _turn_links(token)
        elif token.type in ("th_open", "td_open"):
            token.attrs.pop("style", None)  # an inline style, which the content security policy refuses
            if token.type == "th_open":
                token.attrSet("scope", "col")
    html = reader.renderer.render(tokens, reader.options, {})
    return Document(title, tuple(headings), mark_safe(html))  # noqa: S308 (our own text, raw HTML off)


def _give_address(heading: Token, inline: Token) -> None:
    """Give a heading its ``id``: a measure's family for each measure it names, else its words."""
    codes = [re.split(r"[@(]", child.content)[0] for child in inline.children or [] if child.type == "code_inline"]
    first, *others = dict.fromkeys(slugify(name, allow_unicode=True) for name in codes or [_plain(inline)])
    heading.attrSet("id", first)
    for anchor in others:
        span = Token("html_inline", "", 0, content=f'<span id="{anchor}"></span>')
        (inline.children or []).append(span)


def _turn_links(inline: Token) -> None:
    """Turn links between documents, ``glossary.md``, into links between their pages."""
    for child in inline.children or []:
        name, dot, anchor = str(child.attrs.get("href", "")).partition(".md")
        if child.type == "link_open" and dot and name in PAGES:
            child.attrSet("href", reverse(f"leaderboard:help-{name}") + anchor)


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])
