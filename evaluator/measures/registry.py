"""Every family of measures by its label, and the way from a name to a measure and to its description."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import lru_cache

from evaluator.measures.averages import Macro, Mean
from evaluator.measures.base import Description, Measure
from evaluator.measures.composition import CompositionGap, RecallGap, ShortcutLeak
from evaluator.measures.full_gallery import MedianRank, ReciprocalRank
from evaluator.measures.multi_image import MultiDrop, MultiDropBySignature, MultiRatio, MultiRatioBySignature
from evaluator.measures.negatives import (
    Judged,
    NegativeRecall,
    PrecisionAmongJudged,
    PrecisionDelta,
    PrecisionWithoutNegatives,
    RelativePrecisionDelta,
)
from evaluator.measures.paraphrase import LinguisticDeviation, LinguisticSensitivity
from evaluator.measures.retrieval import (
    MeanAveragePrecision,
    NormalisedGain,
    Precision,
    Recall,
    RecallAny,
    RecallSubset,
    RecallTarget,
)

_FAMILIES: tuple[type[Measure], ...] = (
    *(Recall, RecallTarget, RecallAny, RecallSubset, Precision, MeanAveragePrecision, NormalisedGain),
    *(ReciprocalRank, MedianRank),
    *(NegativeRecall, PrecisionWithoutNegatives, PrecisionDelta, RelativePrecisionDelta, Judged, PrecisionAmongJudged),
    *(LinguisticSensitivity, LinguisticDeviation),
    *(MultiRatio, MultiDrop, MultiRatioBySignature, MultiDropBySignature),
    *(ShortcutLeak, CompositionGap, RecallGap),
    *(Mean, Macro),
)

REGISTRY: dict[str, type[Measure]] = {family.label: family for family in _FAMILIES}
"""Label -> family, in the order of ``docs/measures.md``."""

_NAME = re.compile(r"([A-Za-z_]+)(?:@([0-9]{1,6}))?(?:\((.*)\))?")
_LONGEST_NAME = 200


@lru_cache(maxsize=512)
def parse(name: str) -> Measure:
    """Return the measure called ``name``, which is ``str`` of it. Raises ValueError that says what is wrong."""
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"a measure's name has at most {_LONGEST_NAME} characters")
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f'"{name}" is not a measure\'s name; names look like Recall@10 or LingSens(mAP@10)')
    label, cutoff, inside = match.groups()
    arguments = () if inside is None else tuple(parse(part) for part in _arguments(inside))
    measure = _family(label).build(None if cutoff is None else int(cutoff), arguments)
    if str(measure) != name:
        raise ValueError(f'"{name}" is written "{measure}"')
    return measure


def describe(name: str) -> Description:
    """Return what people read about the measure called ``name``. Raises ValueError like :func:`parse`."""
    return parse(name).describe()


def _family(label: str) -> type[Measure]:
    if label in REGISTRY:
        return REGISTRY[label]
    lowered = {known.lower(): known for known in REGISTRY}
    near = difflib.get_close_matches(label.lower(), lowered, n=1)
    hint = f"did you mean {lowered[near[0]]}?" if near else f"known are {', '.join(REGISTRY)}"
    raise ValueError(f'no measure is called "{label}"; {hint}')


def _arguments(inside: str) -> Iterator[str]:
    """Split ``a,b(c,d)`` at the commas outside brackets."""
    depth, start = 0, 0
    for position, char in enumerate(inside):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            yield inside[start:position]
            start = position + 1
    yield inside[start:]
