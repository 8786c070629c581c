"""A measure's words for pages: the registry's, or the bare name of one that only a source knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from django.utils.text import slugify

from evaluator.measures import registry


@dataclass(frozen=True)
class MeasureWords:
    """What a page says about a measure."""

    name: str
    label: str
    """As short as a column's head allows; the name itself unless that is a composed one."""
    title: str
    sentence: str
    higher_is_better: bool
    needs: tuple[str, ...] = ()
    anchor: str = ""
    """The measure's heading on the page of measures, ``docs/measures.md``."""


@lru_cache(maxsize=512)
def words(name: str) -> MeasureWords:
    """Return the words of the measure called ``name``."""
    family = re.split(r"[@(]", name, maxsplit=1)[0]
    try:
        description = registry.describe(name)
    except ValueError:
        return MeasureWords(name, name, name, "As printed by its source.", higher_is_better=True)
    return MeasureWords(
        name,
        _label(name),
        description.title,
        description.sentence,
        description.higher_is_better,
        description.needs,
        slugify(family),
    )


def _label(name: str) -> str:
    """Return ``Mean of Recall@10, Recall@50`` for ``Mean(Recall@10,Recall@50)``, macro means included."""
    match = re.fullmatch(r"Mean\((.*)\)", name)
    if match is None:
        return re.sub(r"^Macro\((.*)\)$", r"\1, mean of categories", name)
    inner = re.sub(r"Macro\(([^()]*)\)", r"\1", match[1])
    return "Mean of " + inner.replace(",", ", ")
