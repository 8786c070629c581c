"""What an author must say at upload, because a board without it misleads (decision 30).

One definition for form, API and board.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Declaration:
    """One thing to declare: a key, the question, the choices (value -> words), whether several may be chosen."""

    key: str
    question: str
    choices: dict[str, str]
    several: bool = False
    note: str = ""


DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        "supervision",
        "How was the method trained for this task?",
        {"zero-shot": "zero-shot", "supervised": "supervised"},
    ),
    Declaration(
        "training_overlap",
        "Which training sets overlap the benchmarks?",
        {
            "none": "none",
            "m-beir": "M-BEIR",
            "cirr-train": "CIRR train",
            "fashioniq-train": "FashionIQ train",
            "unknown": "unknown",
        },
        several=True,
    ),
    Declaration(
        "query_text",
        "Which query text was used?",
        {
            "as-released": "as released",
            "with-shared-concept": "with CIRCO's shared concept",
            "rewritten": "rewritten (say how)",
            "other": "other (say how)",
        },
    ),
    Declaration(
        "system",
        "What is it?",
        {"single": "single model", "ensemble": "ensemble", "reranked": "reranked"},
    ),
    Declaration("weights", "Are the weights open?", {"open": "open weights", "api": "API", "closed": "closed weights"}),
)
"""Free fields beside these: ``backbone``, ``query_text_note`` (text), ``parameters`` (millions; number or empty)."""
