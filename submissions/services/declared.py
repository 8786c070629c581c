"""Checks what an author says about a method against ``leaderboard.declarations`` (decision 30)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from leaderboard.declarations import DECLARATIONS, Declaration

BACKBONE, PARAMETERS, NOTE = "backbone", "parameters", "query_text_note"
NEED_A_NOTE = ("rewritten", "other")
"""Answers to ``query_text`` that mean nothing without saying how."""
ALONE = ("none", "unknown")
"""Choices that exclude every other one of their question."""
LONGEST = 300

Messages = dict[str, list[str]]


def check_declared(said: Mapping[str, Any]) -> tuple[dict[str, Any], Messages]:
    """Return the answers in their stored form, and field -> what is wrong with it."""
    messages: Messages = {}
    clean: dict[str, Any] = {}
    for question in DECLARATIONS:
        clean[question.key] = _choice(question, said.get(question.key), messages)
    clean[BACKBONE] = _text(BACKBONE, said.get(BACKBONE), messages)
    clean[NOTE] = _text(NOTE, said.get(NOTE), messages)
    clean[PARAMETERS] = _parameters(said.get(PARAMETERS), messages)
    if not clean[BACKBONE] and BACKBONE not in messages:
        messages[BACKBONE] = ["Name the model the method is built on, for example CLIP ViT-L/14."]
    if clean["query_text"] in NEED_A_NOTE and not clean[NOTE]:
        messages.setdefault(NOTE, []).append("Say how the query text was changed.")
    known = {question.key for question in DECLARATIONS} | {BACKBONE, NOTE, PARAMETERS}
    for key in sorted(set(map(str, said)) - known):
        messages[key] = [f"Nothing called {key[:60]} is asked here."]
    return clean, messages


def _choice(question: Declaration, answer: Any, messages: Messages) -> str | list[str]:
    given = [str(part) for part in answer] if isinstance(answer, (list, tuple)) else [str(answer)] if answer else []
    wrong = [part for part in given if part not in question.choices]
    if not given:
        messages[question.key] = [f"Say it: {question.question}"]
    elif wrong:
        messages[question.key] = [f'"{wrong[0][:60]}" is not one of: {", ".join(question.choices)}.']
    elif len(given) > 1 and not question.several:
        messages[question.key] = ["Choose one."]
    elif len(given) > 1 and any(part in ALONE for part in given):
        messages[question.key] = ['"None" and "unknown" stand alone.']
    chosen = [value for value in question.choices if value in given]
    return chosen if question.several else (chosen or [""])[0]


def _text(key: str, answer: Any, messages: Messages) -> str:
    text = " ".join(str(answer or "").split())
    if len(text) > LONGEST:
        messages[key] = [f"Use at most {LONGEST} characters."]
    elif not text.isprintable():
        messages[key] = ["Leave out the unprintable characters."]
    return text


def _parameters(answer: Any, messages: Messages) -> float | None:
    """Millions of parameters; None where they are not known, as for an API."""
    if answer is None or str(answer).strip() == "":
        return None
    try:
        millions = float(str(answer))
    except ValueError:
        millions = math.nan
    if not 0 < millions < 1e8:
        messages[PARAMETERS] = ["Give the number of parameters in millions, for example 428, or leave it empty."]
        return None
    return millions
