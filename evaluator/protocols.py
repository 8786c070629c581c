"""The protocol of every board in decision 2: which measures, on which subsets, and what a list must look like.

Measure names are those of :mod:`evaluator.measures`; a protocol is data, frozen into the split's digest.
"""

from __future__ import annotations

from evaluator.types import Breakdown, Protocol, Subset

_CIRCUS_SUBSETS = (Subset.FULL, Subset.SF, Subset.V)
_PINPOINT_SUBSETS = (Subset.ALL, Subset.ORIGINAL)
_FULL_GALLERY = ("nDCG", "MRR", "MedianRank")
"""What lists of 50 leave empty: from embeddings, judged ranks and whole rankings (decision 13)."""


def _at(names: tuple[str, ...], cutoffs: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"{name}@{k}" for name in names for k in cutoffs)


CIRR = Protocol(
    key="cirr",
    first_measure="Mean(Recall@5,Recall_subset@1)",
    first_subset=Subset.FULL,
    subsets=(Subset.FULL,),
    measures=(
        "Mean(Recall@5,Recall_subset@1)",
        *_at(("Recall",), (1, 5, 10, 50)),
        *_at(("Recall_subset",), (1, 2, 3)),
    ),
    member_list_length=3,
    remove_reference=True,
)
"""CIRR's own protocol: the 2,297 images of the split, reference removed by id, ``target_hard`` only."""

FASHIONIQ = Protocol(
    key="fashioniq",
    first_measure="Mean(Macro(Recall@10),Macro(Recall@50))",
    first_subset=Subset.FULL,
    subsets=(Subset.FULL,),
    measures=("Mean(Macro(Recall@10),Macro(Recall@50))", "Macro(Recall@10)", "Macro(Recall@50)"),
    breakdowns=(Breakdown("category", ("Mean(Recall@10,Recall@50)", "Recall@10", "Recall@50"), main=True),),
)
"""Three categories, each with its original gallery; the unweighted mean over categories (protocols.md 2)."""

CIRCO = Protocol(
    key="circo",
    first_measure="mAP@5",
    first_subset=Subset.FULL,
    subsets=(Subset.FULL,),
    measures=(*_at(("mAP",), (5, 10, 25, 50)), *_at(("Recall_target",), (5, 10, 25, 50))),
    breakdowns=(Breakdown("aspect", ("mAP@10",), main=True),),
)
"""CIRCO's evaluator: AP over all ground truths, Recall of the single target, nine semantic aspects (protocols.md 3)."""

CIRCUS_SINGLE = Protocol(
    key="circus",
    first_measure="Recall@10",
    first_subset=Subset.V,
    subsets=_CIRCUS_SUBSETS,
    measures=(*_at(("Recall",), (1, 5, 10, 50)), *_at(("mAP", "nDCG"), (10, 50)), *_FULL_GALLERY),
    joint_measures=("CompositionGap", "ShortcutLeak@10", "RecallGap@10"),
)
"""CIRCUS on CIRR, FashionIQ and LaSCo: one positive a query, reference kept (protocols.md 4)."""

CIRCUS_MULTI = Protocol(
    key="circus",
    first_measure="Recall_any@10",
    first_subset=Subset.V,
    subsets=_CIRCUS_SUBSETS,
    measures=(
        *_at(("Recall_any",), (1, 5, 10, 50)),
        *_at(("Recall_target",), (10,)),
        *_at(("mAP", "nDCG"), (10, 50)),
        *_FULL_GALLERY,
    ),
    joint_measures=("CompositionGap", "ShortcutLeak@10"),
)
"""CIRCUS on CIRCO: any ground truth counts (decision 16)."""

_PINPOINT_MAIN = ("mAP@10", "NegRecall@10", "RelDeltamAP@10", "LingSens(mAP@10)")

PINPOINT = Protocol(
    key="pinpoint",
    first_measure="mAP@10",
    first_subset=Subset.ALL,
    subsets=_PINPOINT_SUBSETS,
    measures=(
        *_at(("mAP", "mAP_noNeg", "Precision", "Recall", "NegRecall"), (1, 5, 10, 50)),
        "DeltamAP@10",
        "RelDeltamAP@10",
        "LingSens(Precision@10)",
        "LingSensStd(Precision@10)",
        "LingSens(mAP@10)",
        "LingSensStd(mAP@10)",
        "MultiRatio(mAP@10)",
        "MultiDrop(mAP@10)",
        "MultiRatio_signature(mAP@10)",
        "MultiDrop_signature(mAP@10)",
        "Judged@10",
        "mAP_judged@10",
        *_FULL_GALLERY,
    ),
    breakdowns=(
        Breakdown("images", ("mAP@10",), main=True),
        Breakdown("images_signature", ("mAP@10",), main=True),
        Breakdown("category", _PINPOINT_MAIN),
        Breakdown("interest", _PINPOINT_MAIN),
        Breakdown("skin_tone", _PINPOINT_MAIN),
    ),
)
"""PinPoint: several positives, explicit negatives, paraphrases, two images, groups (protocols.md 5)."""
