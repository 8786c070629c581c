"""Probing encodes what is not there yet and nothing else, tells how far it is, and never uses what is out of date."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from probing.probing_bench import SPEC, CountingEncoder, drawn, one_split

from demo.tiny import KINDS, tiny_split
from evaluator.encoders import EncoderError
from evaluator.errors import EvaluatorError
from evaluator.probing import Job, Pictures, Reached, find_pictures, held, probe
from evaluator.probing.pace import Pace
from evaluator.search import judged_ranks
from evaluator.types import Condition, Embeddings, Split, Subset


@pytest.fixture
def split() -> Split:
    return one_split()


@pytest.fixture
def pictures(split: Split, tmp_path: Path) -> Pictures:
    return drawn(tmp_path / "pictures", split)


def inputs(split: Split) -> int:
    return len(split.images) + 3 * len(split)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_ranks_are_those_of_the_vectors_whatever_the_protocol(kind: str, tmp_path: Path) -> None:
    """Two references, several galleries, references that are removed: the same ranks as from whole matrices."""
    split = tiny_split(kind)
    pictures = drawn(tmp_path / "pictures", split)
    found = probe(CountingEncoder(), SPEC, split, pictures, state=tmp_path / "state", instruction="Find", shard=7)
    encoder = CountingEncoder()
    gallery = encoder.encode_images([pictures.picture(image) for image in range(len(split.images))])
    job = Job(SPEC, split, pictures, tmp_path, "Find")
    for condition in Condition:
        queries = [job.query(position, condition) for position in range(len(split))]
        whole = judged_ranks(Embeddings(encoder.encode_queries(queries, condition), gallery), split)
        np.testing.assert_array_equal(found[condition].rank, whole.rank)


def test_a_finished_job_encodes_nothing(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    first, second = CountingEncoder(), CountingEncoder()
    ranks = probe(first, SPEC, split, pictures, state=tmp_path / "state")
    again = probe(second, SPEC, split, pictures, state=tmp_path / "state")
    assert first.inputs.total() == inputs(split) == len(first.inputs)
    assert not second.inputs
    for condition in Condition:
        np.testing.assert_array_equal(ranks[condition].rank, again[condition].rank)


def test_damaged_ranks_are_counted_again_from_the_vectors(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    state = tmp_path / "state"
    ranks = probe(CountingEncoder(), SPEC, split, pictures, state=state)
    path = Job(SPEC, split, pictures, state).ranks_path(Condition.TEXT_ONLY)
    path.write_bytes(path.read_bytes()[:100])
    encoder = CountingEncoder()
    again = probe(encoder, SPEC, split, pictures, state=state)
    assert not encoder.inputs
    np.testing.assert_array_equal(ranks[Condition.TEXT_ONLY].rank, again[Condition.TEXT_ONLY].rank)


def test_another_split_with_the_same_gallery_costs_its_queries_alone(
    split: Split, pictures: Pictures, tmp_path: Path
) -> None:
    probe(CountingEncoder(), SPEC, split, pictures, state=tmp_path / "state")
    other = replace(split, name="other", texts=tuple(f"{text} please" for text in split.texts))
    encoder = CountingEncoder()
    probe(encoder, SPEC, other, pictures, state=tmp_path / "state")
    assert encoder.inputs.total() == 3 * len(split)
    assert not [name for name in encoder.inputs if name.startswith("gallery")]


def test_other_subsets_make_no_probe_stale(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    probe(CountingEncoder(), SPEC, split, pictures, state=tmp_path / "state")
    frozen = replace(split, version=2, subsets={Subset.FULL: split.subsets[Subset.FULL]})
    encoder = CountingEncoder()
    probe(encoder, SPEC, frozen, pictures, state=tmp_path / "state")
    assert not encoder.inputs


def test_a_second_encoder_costs_its_own_probes_and_leaves_the_first_alone(
    split: Split, pictures: Pictures, tmp_path: Path
) -> None:
    state, first, second = tmp_path / "state", CountingEncoder(), CountingEncoder("newer")
    probe(first, SPEC, split, pictures, state=state)
    probe(second, replace(SPEC, name="newer", revision="2"), split, pictures, state=state)
    assert second.inputs == first.inputs
    assert len(list((state / "jobs").iterdir())) == 2
    idle = CountingEncoder()
    probe(idle, SPEC, split, pictures, state=state)
    assert not idle.inputs


def test_a_name_decides_no_vector(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    probe(CountingEncoder(), SPEC, split, pictures, state=tmp_path / "state")
    idle = CountingEncoder()
    probe(idle, replace(SPEC, name="renamed"), split, pictures, state=tmp_path / "state")
    assert not idle.inputs


def test_a_changed_picture_is_never_taken_for_the_old_one(split: Split, tmp_path: Path) -> None:
    """Its time and its size stay what they were: only its content tells."""
    folder, state = tmp_path / "pictures", tmp_path / "state"
    probe(CountingEncoder(), SPEC, split, drawn(folder, split), state=state)
    path = folder / f"{split.images[3]}.png"
    path.write_text(path.read_text(encoding="utf-8")[::-1], encoding="utf-8")
    encoder = CountingEncoder()
    probe(encoder, SPEC, split, find_pictures(folder, split), state=state)
    assert len([name for name in encoder.inputs if name.startswith("gallery")]) == len(split.images)


def test_copied_pictures_are_the_same_ones(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    probe(CountingEncoder(), SPEC, split, pictures, state=tmp_path / "state")
    encoder = CountingEncoder()
    probe(encoder, SPEC, split, drawn(tmp_path / "copy", split), state=tmp_path / "state")
    assert not encoder.inputs


def test_another_instruction_leaves_the_gallery_and_what_shows_no_instruction(
    split: Split, pictures: Pictures, tmp_path: Path
) -> None:
    probe(CountingEncoder(), SPEC, split, pictures, state=tmp_path / "state")
    encoder = CountingEncoder()
    probe(encoder, SPEC, split, pictures, state=tmp_path / "state", instruction="Find the picture.")
    assert {name.split()[0] for name in encoder.inputs} == {"multimodal", "text-only"}


def test_vectors_that_a_spec_names_and_that_were_written_anew_are_others(
    split: Split, pictures: Pictures, tmp_path: Path
) -> None:
    spec = replace(SPEC, options={"gallery": "gallery.npy", "more": ["a.npy"]})
    for name in ("gallery.npy", "a.npy"):
        (tmp_path / name).write_bytes(b"1")
    probe(CountingEncoder(), spec, split, pictures, state=tmp_path / "state", folder=tmp_path)
    (tmp_path / "a.npy").write_bytes(b"2")
    encoder = CountingEncoder()
    probe(encoder, spec, split, pictures, state=tmp_path / "state", folder=tmp_path)
    assert encoder.inputs.total() == inputs(split)


def test_an_error_in_the_middle_keeps_what_is_finished(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    class Failing(CountingEncoder):
        def encode_queries(self, queries, condition):  # type: ignore[no-untyped-def]
            if condition is Condition.TEXT_ONLY:
                raise EncoderError("out-of-memory", "made up")
            return super().encode_queries(queries, condition)

    with pytest.raises(EncoderError, match="made up"):
        probe(Failing(), SPEC, split, pictures, state=tmp_path / "state", shard=5)
    encoder = CountingEncoder()
    probe(encoder, SPEC, split, pictures, state=tmp_path / "state", shard=5)
    assert encoder.inputs.total() == 2 * len(split)


def test_queries_of_another_dimension_are_refused(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    class Crooked(CountingEncoder):
        def encode_queries(self, queries, condition):  # type: ignore[no-untyped-def]
            return super().encode_queries(queries, condition)[:, :-1]

    with pytest.raises(EncoderError) as refused:
        probe(Crooked(), SPEC, split, pictures, state=tmp_path / "state")
    assert refused.value.code == "vectors-shape"


def test_without_truth_there_is_nothing_to_probe(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="hidden"):
        probe(CountingEncoder(), SPEC, replace(split, hidden_truth=True), pictures, state=tmp_path / "state")


def test_progress_counts_every_input_once_and_ends_with_the_ranking(
    split: Split, pictures: Pictures, tmp_path: Path
) -> None:
    told: list[Reached] = []
    probe(CountingEncoder(), SPEC, split, pictures, state=tmp_path / "state", progress=told.append)
    phases = list(dict.fromkeys(reached.phase for reached in told))
    assert phases == ["gallery", "multimodal", "text-only", "image-only", "ranking"]
    assert [reached.done for reached in told] == sorted(reached.done for reached in told)
    assert {reached.total for reached in told} == {inputs(split)}
    assert (told[0].done, told[-1].done, told[-1].seconds_left) == (0, inputs(split), 0)


def test_the_rate_is_that_of_the_last_minute_and_not_of_what_was_found() -> None:
    now, told = [0.0], list[Reached]()
    pace = Pace(1000, told.append, lambda: now[0])
    pace.found("gallery", 400)
    assert (told[-1].done, told[-1].rate, told[-1].seconds_left) == (400, 0.0, None)
    pace.start()
    for _ in range(10):
        now[0] += 10
        pace.encoded("gallery", 10)
    assert (told[-1].done, told[-1].rate, told[-1].seconds_left) == (500, 1.0, 500.0)
    for _ in range(10):
        now[0] += 10
        pace.encoded("gallery", 20)
    assert (told[-1].rate, told[-1].seconds_left) == (2.0, 150.0)


def test_two_processes_never_work_in_one_state(split: Split, pictures: Pictures, tmp_path: Path) -> None:
    """The second says who holds it; once the first is killed, nothing has to be cleaned up."""
    state = tmp_path / "state"
    code = (
        "import sys, pathlib\nfrom evaluator.probing import held\n"
        "with held(pathlib.Path(sys.argv[1])): print(1, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"1\n"
        encoder = CountingEncoder()
        with pytest.raises(EncoderError, match=f"process {other.pid} on .* since 20") as refused:
            probe(encoder, SPEC, split, pictures, state=state)
        assert refused.value.code == "state-in-use"
        assert not encoder.inputs
        other.kill()
    probe(encoder, SPEC, split, pictures, state=state)
    with held(state):
        pass
