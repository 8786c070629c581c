"""What one modality alone achieves: shortcut leak and Composition Gap. Neither ever ranks a board (decision 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from evaluator.measures.base import (
    FULL_GALLERY,
    AtCutoff,
    Description,
    Measure,
    Mix,
    PerQuery,
    QueryMeasure,
    Unit,
    mean_of,
)
from evaluator.measures.retrieval import NormalisedGain, Recall, RecallAny
from evaluator.measures.view import RunView
from evaluator.types import Condition, FloatArray, Split

_SINGLE = (Condition.TEXT_ONLY, Condition.IMAGE_ONLY)
_BOTH_SINGLE = "a text-only and an image-only run"
_THREE = "runs under all three conditions"


class JointMeasure(Measure):
    """A measure of several runs of one submission; its score has no condition."""


@dataclass(frozen=True)
class ShortcutLeak(AtCutoff, QueryMeasure, JointMeasure):
    """ShortcutLeak@k = share of queries with a positive in the first k, text-only or image-only (decision 14).

    It needs both runs: the share of one alone is less than the leak, and would stand beside others' whole ones.
    """

    label: ClassVar[str] = "ShortcutLeak"

    def column(self, views: Mapping[Condition, RunView], condition: Condition) -> PerQuery:
        text, image = (super(ShortcutLeak, self).column(views, single) for single in _SINGLE)
        return PerQuery(np.maximum(text.values, image.values), text.counted)

    def per_query(self, view: RunView) -> PerQuery:
        return RecallAny(self.k).per_query(view)

    def describe(self) -> Description:
        sentence = f"Share of queries solved among the first {self.k} images from the text alone or the image alone."
        return Description(f"Shortcut leak at {self.k}", sentence, False, Unit.PERCENT, (_BOTH_SINGLE,))


@dataclass(frozen=True)
class CompositionGap(JointMeasure):
    """CompositionGap = 1 - max(I, T) / MM of the mean full-gallery nDCG under the three conditions (decision 13)."""

    label: ClassVar[str] = "CompositionGap"
    undefined: ClassVar[str] = "undefined: the multimodal nDCG is 0"

    def __str__(self) -> str:
        return self.label

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        if cutoff is not None or arguments:
            raise ValueError("CompositionGap is written without a cut-off: it is about the full gallery")
        return cls()

    def mixes(self, split: Split) -> tuple[Mix, ...]:
        return tuple(mean_of(NormalisedGain(), condition=condition) for condition in (Condition.MULTIMODAL, *_SINGLE))

    def combine(self, *means: FloatArray) -> FloatArray:
        multimodal, text, image = means
        return 1.0 - np.maximum(text, image) / multimodal

    def describe(self) -> Description:
        sentence = "What both modalities together add over the better single one, relative, in full-gallery nDCG."
        return Description("Composition Gap", sentence, True, Unit.NUMBER, (FULL_GALLERY, _THREE))


@dataclass(frozen=True)
class RecallGap(AtCutoff, JointMeasure):
    """RecallGap@k = Recall@k multimodal - max(text-only, image-only): "compgap" of CIRCUS's README (decision 13)."""

    label: ClassVar[str] = "RecallGap"

    def mixes(self, split: Split) -> tuple[Mix, ...]:
        return tuple(mean_of(Recall(self.k), condition=condition) for condition in (Condition.MULTIMODAL, *_SINGLE))

    def combine(self, *means: FloatArray) -> FloatArray:
        multimodal, text, image = means
        return multimodal - np.maximum(text, image)

    def describe(self) -> Description:
        sentence = f"Recall at {self.k} of both modalities minus that of the better single one."
        return Description(f"Recall gap at {self.k}", sentence, True, Unit.PERCENT, (_THREE,))
