"""Less than float32 is used only where no rank of a sample changes; otherwise it says so and goes on in float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from probing.probing_bench import SPEC, CountingEncoder, drawn, one_split

from demo.tiny import KINDS, tiny_split
from evaluator.encoders import Encoder
from evaluator.probing import Job, precision
from evaluator.probing.precision import PICTURES, QUERIES, known, sample_of
from evaluator.probing.session import Outcome, carry_out


class Shop:
    """Opens encoders and remembers them; a dtype that is not float32 has noise."""

    def __init__(self, noise: float) -> None:
        self.noise = noise
        self.opened: list[tuple[str, CountingEncoder]] = []

    def __call__(self, dtype: str) -> Encoder:
        self.opened.append((dtype, CountingEncoder(noise=0.0 if dtype == "float32" else self.noise)))
        return self.opened[-1][1]

    @property
    def dtypes(self) -> list[str]:
        return [dtype for dtype, _ in self.opened]


def job(folder: Path, dtype: str = "bfloat16") -> Job:
    split = one_split()
    return Job(SPEC, split, drawn(folder / "pictures", split), folder / "state", dtype=dtype)


def done(folder: Path, shop: Shop, dtype: str = "bfloat16") -> Outcome:
    return carry_out(job(folder, dtype), shop, device="cpu")


def test_where_no_rank_changes_the_narrow_dtype_is_used(tmp_path: Path) -> None:
    shop = Shop(noise=1e-9)
    outcome = done(tmp_path, shop)
    assert shop.dtypes == ["float32", "bfloat16"]
    assert outcome.job.dtype == outcome.record["dtype"] == "bfloat16"
    said = outcome.record["precision"]
    assert (said["used"], said["changed"], said["queries"], said["pictures"]) == ("bfloat16", 0, 12, 60)
    assert "none of" in said["said"]
    assert all(encoder.closed for _, encoder in shop.opened)


def test_where_a_rank_changes_float32_is_used_and_the_record_says_why(tmp_path: Path) -> None:
    shop = Shop(noise=1.0)
    outcome = done(tmp_path, shop)
    assert shop.dtypes == ["float32", "bfloat16", "float32"]
    assert outcome.job.dtype == "float32"
    said = outcome.record["precision"]
    assert (said["asked"], said["used"]) == ("bfloat16", "float32")
    assert 0 < said["changed"] <= said["compared"]
    assert said["said"].endswith("computing in float32")
    exact = done(tmp_path, Shop(0.0), "float32")
    for condition, ranks in outcome.ranks.items():
        np.testing.assert_array_equal(ranks.rank, exact.ranks[condition].rank)


def test_numbers_that_the_narrow_dtype_cannot_hold_count_as_changed(tmp_path: Path) -> None:
    outcome = done(tmp_path, Shop(noise=float("inf")))
    assert outcome.job.dtype == "float32"
    assert outcome.record["precision"]["changed"] == outcome.record["precision"]["compared"]


@pytest.mark.parametrize("noise", [1e-9, 1.0])
def test_the_question_is_asked_once_and_a_finished_job_opens_nothing(noise: float, tmp_path: Path) -> None:
    done(tmp_path, Shop(noise))
    again = Shop(noise)
    outcome = done(tmp_path, again)
    assert not again.opened
    assert outcome.record["finished"]
    verdict = known(job(tmp_path))
    assert verdict is not None
    _, same = precision.settle(job(tmp_path), again)
    assert (again.dtypes, same) == ([verdict.used], verdict)


def test_a_damaged_verdict_is_no_verdict(tmp_path: Path) -> None:
    done(tmp_path, Shop(1e-9))
    (job(tmp_path).place / "precision.json").write_text('{"asked": ', encoding="utf-8")
    assert known(job(tmp_path)) is None
    assert done(tmp_path, Shop(1e-9)).job.dtype == "bfloat16"


def test_float32_asks_nothing(tmp_path: Path) -> None:
    shop = Shop(1.0)
    outcome = done(tmp_path, shop, "float32")
    assert shop.dtypes == ["float32"]
    assert outcome.record["precision"] is None
    assert shop.opened[0][1].closed


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_sample_is_a_split_of_its_own_with_every_positive_of_its_queries(kind: str, tmp_path: Path) -> None:
    split = tiny_split(kind)
    sample = sample_of(Job(SPEC, split, drawn(tmp_path, split), tmp_path))
    assert 1 <= len(sample.queries) <= QUERIES
    assert len(sample.images) <= PICTURES
    assert sample.split.images == tuple(split.images[image] for image in sample.images)
    judged = split.judgments
    for place, query in enumerate(sample.queries.tolist()):
        wanted = {split.images[i] for i in judged.image[(judged.query == query) & judged.positive].tolist()}
        mine = sample.split.judgments.query == place
        assert {sample.split.images[i] for i in sample.split.judgments.image[mine].tolist()} == wanted
        gallery = sample.split.galleries[sample.split.gallery_of[place]]
        whole = split.galleries[split.gallery_of[query]]
        assert {sample.split.images[i] for i in gallery.images.tolist()} <= {split.images[i] for i in whole.images}
