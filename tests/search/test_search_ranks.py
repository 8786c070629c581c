"""Judged ranks from vectors agree with the oracle rank for rank, however they are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from search.plain import DEVICES, SCREENS, make_split, plain_ranks

from evaluator.errors import EvaluatorError
from evaluator.ranks import candidates
from evaluator.search import devices, judged, judged_ranks, kernels, plan
from evaluator.types import Embeddings, Gallery, Similarity, Split

Maker = Callable[[np.random.Generator, int, int, int], tuple[NDArray[np.floating], NDArray[np.floating]]]


def ordinary(random: np.random.Generator, n: int, g: int, d: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    return random.standard_normal((n, d)), random.standard_normal((g, d))


def whole_numbers(
    random: np.random.Generator, n: int, g: int, d: int
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Scores full of ties between different vectors."""
    return tuple(random.integers(-2, 3, (rows, d)) + np.eye(1, d) * 3 for rows in (n, g))  # type: ignore[return-value]


def last_bits(random: np.random.Generator, n: int, g: int, d: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Images that differ from each other in the last bits of a few coordinates."""
    queries, base = random.standard_normal((n, d)), random.standard_normal((1, d)).astype(np.float32)
    bits = base.view(np.int32) + random.integers(-1, 2, (g, d)) * (random.random((g, d)) < 0.2)
    return queries, bits.astype(np.int32).view(np.float32)


def copies(random: np.random.Generator, n: int, g: int, d: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """A few distinct images, each many times: the reference has twins."""
    return random.standard_normal((n, d)), random.standard_normal((3, d))[random.integers(0, 3, g)]


def equal(random: np.random.Generator, n: int, g: int, d: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    return random.standard_normal((n, d)), np.tile(random.standard_normal((1, d)), (g, 1))


def cancelling(
    random: np.random.Generator, n: int, g: int, d: int
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Large products that cancel: float32 sums are as wrong as they can be, scores are close to each other."""
    signs = np.where(np.arange(d) % 2, -1.0, 1.0)
    base = 1 + random.random((1, d)) * 1e-3
    return np.tile(base, (n, 1)) * (1 + random.random((n, d)) * 1e-6), signs * base * (1 + random.random((g, d)) * 1e-6)


def uneven(random: np.random.Generator, n: int, g: int, d: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Lengths over sixty powers of ten, and coordinates that float32 can barely hold."""
    return tuple(  # type: ignore[return-value]
        random.standard_normal((rows, d)) * 10.0 ** random.integers(-30, 31, (rows, 1)) for rows in (n, g)
    )


def in_the_middle(
    random: np.random.Generator, n: int, g: int, d: int
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Coordinates half way between two bfloat16 numbers, where rounding loses most."""
    half = 1 + 2.0**-8
    return tuple(np.where(random.random((rows, d)) < 0.5, half, -half) for rows in (n, g))  # type: ignore[return-value]


LINES = ("query", "image", "positive", "negative", "target", "member")
MAKERS = (ordinary, whole_numbers, last_bits, copies, equal, cancelling, uneven, in_the_middle)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Embeddings, Split]:
    seed = draw(st.integers(0, 2**32 - 1))
    queries, images = draw(st.integers(1, 6)), draw(st.integers(2, 40))
    dimension = draw(st.sampled_from([2, 3, 64, 65, 300]))
    split = make_split(
        queries,
        images,
        judged=draw(st.sampled_from([1, 3, 12])),
        remove_reference=draw(st.booleans()),
        galleries=draw(st.sampled_from([1, 1, 2])),
        seed=seed,
    )
    left, right = draw(st.sampled_from(MAKERS))(np.random.default_rng(seed), queries, images, dimension)
    similarity = draw(st.sampled_from(list(Similarity)))
    return Embeddings(left.astype(np.float32), right.astype(np.float32), similarity), split


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([1, 7, 8, 1024]), st.sampled_from([1, 2, 3]))
def test_agrees_with_the_oracle_however_it_is_computed(
    case: tuple[Embeddings, Split], block: int, threads: int
) -> None:
    embeddings, split = case
    expected = plain_ranks(embeddings, split)
    for device in [device for device in DEVICES if device == "numpy" or devices.has("torch")]:
        for screen in SCREENS:
            found = judged_ranks(embeddings, split, block=block, device=device, screen=screen, threads=threads)
            assert found.rank.tolist() == expected, (device, screen)
            assert found.complete
            assert found.depth.tolist() == candidates(split).tolist()


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("cost", [0.0, 1e9], ids=["compared", "listed"])
def test_the_plan_changes_nothing(maker: Maker, cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing cluster by cluster or listing once, in tiles of few queries: the same ranks."""
    monkeypatch.setattr(plan, "_COMPARE", cost)
    monkeypatch.setattr(kernels.NumpyKernel, "cells", 200)
    split = make_split(11, 90, judged=20, remove_reference=True)
    embeddings = Embeddings(*maker(np.random.default_rng(5), 11, 90, 70))
    expected = plain_ranks(embeddings, split)
    for screen in ("float32", "bfloat16"):
        assert judged_ranks(embeddings, split, block=16, screen=screen, threads=2).rank.tolist() == expected


@pytest.mark.parametrize("fast", [True, False])
def test_a_fast_bfloat16_is_taken_for_some_queries(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.NumpyKernel, "fast_bfloat16", fast)
    split = make_split(20, 300, judged=1)
    embeddings = Embeddings(*ordinary(np.random.default_rng(1), 20, 300, 64))
    assert judged_ranks(embeddings, split, device="numpy").rank.tolist() == plain_ranks(embeddings, split)


@pytest.mark.torch
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("screen", ["float32", "bfloat16"])
def test_what_runs_on_a_gpu_runs_on_torchs_cpu_device(
    maker: Maker, screen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers with the GPU's kernel, on the one device every torch has."""
    monkeypatch.setattr(judged, "open_kernels", lambda *_: [devices.TorchKernel("cpu") for _ in range(2)])
    split = make_split(9, 60, judged=15, remove_reference=True)
    embeddings = Embeddings(*maker(np.random.default_rng(2), 9, 60, 66))
    for cost in (0.0, 1e9):
        monkeypatch.setattr(plan, "_COMPARE", cost)
        assert judged_ranks(embeddings, split, block=17, screen=screen).rank.tolist() == plain_ranks(embeddings, split)


@pytest.mark.gpu
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("screen", ["float32", "bfloat16"])
def test_every_gpu_gives_the_same_ranks(maker: Maker, screen: str) -> None:
    split = make_split(50, 2000, judged=15)
    embeddings = Embeddings(*maker(np.random.default_rng(2), 50, 2000, 300))
    expected = judged_ranks(embeddings, split, device="numpy").rank.tolist()
    assert judged_ranks(embeddings, split, device="cuda", block=128, screen=screen).rank.tolist() == expected


@pytest.mark.torch
def test_many_images_over_several_blocks() -> None:
    """Whole blocks, so that eight cells are looked at at a time, and a ragged last one; each count against NumPy's."""
    random = np.random.default_rng(3)
    split = make_split(40, 9000, judged=12)
    queries, gallery = random.standard_normal((40, 32)), random.integers(-3, 4, (9000, 32)).astype(np.float64)
    embeddings = Embeddings(queries, gallery, Similarity.INNER_PRODUCT)
    scores = queries.astype(np.float32).astype(np.float64) @ gallery.T  # ties only between equal vectors: none here
    query, image = split.judgments.query, split.judgments.image
    expected = 1 + (scores[query] > scores[query, image][:, np.newaxis]).sum(axis=1)
    for device in DEVICES:
        for screen in SCREENS:
            assert np.array_equal(judged_ranks(embeddings, split, device=device, screen=screen).rank, expected)


class TestVectorsOfEveryKind:
    """A32: the same numbers in any dtype, memory order and byte order have the same ranks."""

    split = make_split(6, 50, judged=9)
    queries, gallery = (np.random.default_rng(4).integers(-40, 41, (rows, 33)) / 16 for rows in (6, 50))

    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
    @pytest.mark.parametrize("byte_order", ["<", ">"])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_dtype_byte_order_and_memory_order(self, dtype: str, byte_order: str, order: str) -> None:
        kind = np.dtype(byte_order + dtype)
        queries, gallery = (np.array(m, dtype=kind, order=order) for m in (self.queries, self.gallery))
        for similarity in Similarity:
            expected = plain_ranks(Embeddings(self.queries, self.gallery, similarity), self.split)
            assert judged_ranks(Embeddings(queries, gallery, similarity), self.split).rank.tolist() == expected

    def test_a_view_with_gaps(self) -> None:
        gallery = np.repeat(self.gallery, 2, axis=1).astype(np.float32)[:, ::2]
        expected = plain_ranks(Embeddings(self.queries, self.gallery), self.split)
        assert judged_ranks(Embeddings(self.queries, gallery), self.split).rank.tolist() == expected

    def test_a_memory_mapped_file(self, tmp_path: Path) -> None:
        np.save(tmp_path / "gallery.npy", self.gallery.astype(np.float32))
        mapped = np.load(tmp_path / "gallery.npy", mmap_mode="r")
        expected = plain_ranks(Embeddings(self.queries, self.gallery), self.split)
        for similarity in Similarity:
            found = judged_ranks(Embeddings(self.queries, mapped, similarity), self.split, block=8)
            expected = plain_ranks(Embeddings(self.queries, self.gallery, similarity), self.split)
            assert found.rank.tolist() == expected

    def test_rows_times_a_thousand_change_nothing_under_cosine(self) -> None:
        expected = judged_ranks(Embeddings(self.queries, self.gallery), self.split).rank.tolist()
        longer = self.gallery * np.where(np.arange(50) % 2, 1000.0, 1.0)[:, np.newaxis]
        assert judged_ranks(Embeddings(self.queries * 1000, longer), self.split).rank.tolist() == expected
        inner = judged_ranks(Embeddings(self.queries, longer, Similarity.INNER_PRODUCT), self.split)
        assert inner.rank.tolist() != expected


class TestChance:
    """A30: equal vectors rank by the gallery order, which knows nothing of relevance."""

    def test_the_rank_is_the_place_in_the_gallery(self) -> None:
        split = make_split(5, 30, judged=30)
        same = Embeddings(np.ones((5, 8)), np.ones((30, 8)))
        assert judged_ranks(same, split).rank.reshape(5, 30).tolist() == [list(range(1, 31))] * 5

    def test_recall_is_at_chance_and_renaming_changes_nothing_in_expectation(self) -> None:
        """Each image takes each place equally often over the rotations of the gallery."""
        recalls = []
        for turn in range(30):
            split = make_split(12, 30, judged=1)
            image = (split.judgments.image + turn) % 30
            renamed = replace(split, judgments=replace(split.judgments, image=image.astype(np.int32)))
            ranks = judged_ranks(Embeddings(np.ones((12, 8)), np.ones((30, 8))), renamed).rank
            recalls.append(float(np.mean(ranks <= 10)))
        assert np.mean(recalls) == pytest.approx(10 / 30)
        assert max(recalls) < 1.0


class TestReferences:
    """Decision 20: the reference goes by id, and only that id."""

    def test_a_twin_of_the_reference_stays(self) -> None:
        split = make_split(1, 5, judged=5, remove_reference=True)
        split = replace(split, references=((2,),))
        gallery = np.array([[0, 1], [1, 0], [1, 0], [1, 1], [1, 0]])
        ranks = judged_ranks(Embeddings(np.array([[1.0, 0.0]]), gallery.astype(np.float32)), split)
        assert ranks.rank.tolist() == [4, 1, 0, 3, 2]  # images 1 and 4 are twins of the reference, 2
        assert ranks.depth.tolist() == [4]

    def test_a_reference_given_twice_or_outside_the_gallery_is_taken_off_once_or_never(self) -> None:
        split = make_split(2, 4, judged=4, remove_reference=True)
        split = replace(split, references=((1, 1), (3,)), galleries=(Gallery("most", np.arange(3, dtype=np.int32)),))
        line = np.array([[4.0], [3.0], [2.0], [1.0]])
        ranks = judged_ranks(Embeddings(np.ones((2, 1)), line, Similarity.INNER_PRODUCT), split)
        assert ranks.rank.tolist() == [1, 0, 2, 0, 1, 2, 3, 0]

    def test_image_sets_are_ranked_among_themselves(self) -> None:
        split = make_split(1, 4, judged=4)
        member = np.array([True, False, True, True])
        split = replace(split, judgments=replace(split.judgments, member=member))
        line = np.array([[1.0], [9.0], [3.0], [2.0]])
        ranks = judged_ranks(Embeddings(np.ones((1, 1)), line, Similarity.INNER_PRODUCT), split)
        assert ranks.member_rank is not None
        assert ranks.member_rank.tolist() == [3, 0, 1, 2]


class TestRefusals:
    """Ours, not the participant's."""

    split = make_split(2, 5)

    def test_vectors_of_another_number_are_not_parallel(self) -> None:
        """A27: one image missing, one too many; the readers say which."""
        for images in (4, 6):
            with pytest.raises(EvaluatorError, match="not parallel"):
                judged_ranks(Embeddings(np.ones((2, 3)), np.ones((images, 3))), self.split)

    def test_an_open_gallery_has_no_ranks(self) -> None:
        split = replace(self.split, galleries=(Gallery("open", self.split.galleries[0].images, "[0-9]+"),))
        with pytest.raises(EvaluatorError, match="open"):
            judged_ranks(Embeddings(np.ones((2, 3)), np.ones((5, 3))), split)

    @pytest.mark.parametrize("option", [{"device": "abacus"}, {"screen": "int4"}])
    def test_unknown_options(self, option: dict[str, str]) -> None:
        with pytest.raises(EvaluatorError, match="choose one of"):
            judged_ranks(Embeddings(np.ones((2, 3)), np.ones((5, 3))), self.split, **option)  # type: ignore[arg-type]

    def test_products_less_exact_than_float32_are_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A library that quietly multiplies in TF32 or bfloat16 must not decide a rank."""

        def careless(self: kernels.NumpyKernel, left: object, right: object, slice_: int) -> object:
            return kernels.to_bfloat16(left) @ kernels.to_bfloat16(right).T  # type: ignore[arg-type]

        monkeypatch.setattr(kernels.NumpyKernel, "product", careless)
        split = make_split(20, 50)
        vectors = Embeddings(*ordinary(np.random.default_rng(0), 20, 50, 64))
        with pytest.raises(EvaluatorError, match="less exact than float32"):
            judged_ranks(vectors, split, device="numpy")

    def test_a_worker_that_fails_ends_the_pass(self) -> None:
        done = []

        def work(kernel: kernels.Kernel, part: slice) -> None:
            done.append(part)
            raise MemoryError

        with pytest.raises(MemoryError):
            devices.over_blocks([kernels.NumpyKernel()], 100, 1, work)
        assert len(done) == 1


def test_queries_without_judged_images_and_empty_galleries() -> None:
    split = make_split(3, 6, judged=2)
    judgments = split.judgments
    some = replace(
        split,
        galleries=(*split.galleries, Gallery("empty", np.zeros(0, dtype=np.int32))),
        gallery_of=np.array([0, 0, 1], dtype=np.int32),
        judgments=replace(
            judgments,
            **{
                name: getattr(judgments, name)[2:]
                for name in ("query", "image", "positive", "negative", "target", "member")
            },
        ),
    )
    embeddings = Embeddings(*ordinary(np.random.default_rng(0), 3, 6, 4))
    assert judged_ranks(embeddings, some).rank.tolist() == plain_ranks(embeddings, some)
