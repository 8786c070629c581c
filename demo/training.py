"""What the small encoder is trained on for the demo's scenes, and the heads it is audited with.

The pictures are scenes drawn once more: the same attributes, but other places, angles, hills and backgrounds, so that
no picture of the gallery is among them. The captions name what is shown. No caption is a text of a query: one that
happens to be is left out.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import demo.writing
from demo.chance import draw, pick
from demo.circus import circus_split
from demo.drawing import render
from demo.phrases import WHERE, describe, noun
from demo.pinpoint import pinpoint_split
from demo.scenes import TONES, Scene, gallery
from evaluator.encoders import Spec, small, small_towers

TURNS = 6
"""How often each scene is drawn anew."""
CAPTIONS = 2
"""Captions of each picture."""
_OUTLINED = 5
"""One of so many pictures has an outline."""

NAME = "Small encoder (scenes)"
SUBJECT = "the demo's scenes, drawn anew"
_STAMP = "prepared.json"
_BACKGROUND = dict(zip(TONES, ("a very light", "a light", "a dark", "a very dark"), strict=True))

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Prepared:
    """All that one audit needs."""

    spec: Path
    """The encoder's description; paths in it start from the file's folder."""
    bundle: Path
    images: Path
    """Folder of pictures, named by the images' ids."""
    instruction: str
    """The split's instruction prefix; may be empty."""


@dataclass(frozen=True, order=True)
class Drawn(Scene):
    """A scene drawn anew: ``turn`` decides all that no attribute does."""

    turn: int = 0

    @property
    def identity(self) -> str:
        """What decides everything about its picture that is not an attribute."""
        return f"{super().identity}, turn {self.turn}"


@cache
def scenes() -> tuple[Drawn, ...]:
    """Return the scenes of the training pictures: every combination of five attributes, :data:`TURNS` times."""
    plain = (scene for scene in gallery() if scene.finish == "plain")
    return tuple(_drawn(scene, turn) for scene in plain for turn in range(1, TURNS + 1))


def captions(scene: Drawn) -> Iterator[str]:
    """Yield what may be said of a picture, no text of any of the demo's queries among it."""
    for number in range(CAPTIONS):
        templates = [text for text in _sayings(scene) if text.lower() not in _audited()]
        yield pick(templates, "caption", number, scene, scene.turn)


def write_pairs(folder: Path, progress: Progress | None = None) -> list[small.Pair]:
    """Draw the training pictures into ``folder`` and return each with its captions. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = []
    for number, scene in enumerate(scenes()):
        path = folder / f"drawn-{number:04d}.png"
        render(scene).save(path, compress_level=1)
        pairs += [(path, caption) for caption in captions(scene)]
        if progress is not None:
            progress("drawing", number + 1, len(scenes()))
    return pairs


def prepare(state: Path, progress: Progress | None = None) -> Prepared:
    """Write the demo, train heads and describe the encoder below ``state``; do only what is not there yet.

    Raises EncoderError and OSError.
    """
    files = state / "demo"  # as load_demo has it
    manifest = demo.writing.write(files, None if progress is None else lambda *done: progress("writing", *done))
    course = Course("scenes", NAME, SUBJECT, manifest.digest)
    spec = trained(state / "encoders", course, lambda folder: write_pairs(folder, progress), progress)
    return Prepared(spec, files / manifest.bundles["demo-circus"], files / "images", "")


@dataclass(frozen=True)
class Course:
    """One training of heads."""

    heads: str
    """Name of their folder."""
    name: str
    """Of the encoder."""
    subject: str
    """What the pictures show, in words for the card."""
    digest: str
    """Changes when the pairs do."""
    recipe: small.Recipe | None = None
    """None for the usual one."""


def trained(
    folder: Path, course: Course, pairs: Callable[[Path], list[small.Pair]], progress: Progress | None = None
) -> Path:
    """Train heads in ``folder`` unless the same course was gone through; return the spec of the encoder.

    ``pairs`` writes training pictures into a folder, which is deleted afterwards, and returns them with captions.
    """
    spec, stamp = folder / f"{course.heads}.json", folder / course.heads / _STAMP
    wanted = {"course": str(course), "encoder": _encoder_digest()}
    if spec.exists() and stamp.exists() and _read(stamp) == wanted:
        return spec
    stamp.unlink(missing_ok=True)
    pictures = folder / f"{course.heads}-pictures"
    revision = small.train(
        pairs(pictures), folder / course.heads, recipe=course.recipe, subject=course.subject, progress=progress
    )
    described = Spec(course.name, "small", course.heads, revision, licence=small_towers.LICENCE)
    spec.write_text(json.dumps(described.as_dict(), indent=1), encoding="utf-8")
    stamp.write_text(json.dumps(wanted), encoding="utf-8")
    shutil.rmtree(pictures, ignore_errors=True)
    return spec


def _sayings(scene: Drawn) -> list[str]:
    things = noun(scene.form, scene.number)
    where, ground = WHERE[scene.place], f"{_BACKGROUND[scene.tone]} background"
    core = f"{scene.number} {scene.colour} {things}"
    whole, all_of_it = describe(scene), describe(scene, finish=True)
    is_or_are = "is" if scene.number == "one" else "are"
    return [
        whole,
        all_of_it,
        f"A picture of {whole}.",
        f"There {is_or_are} {whole}.",
        f"I see {whole} here.",
        f"A drawing: {all_of_it}.",
        f"{whole} on {ground}",
        f"{all_of_it} on {ground}",
        core,
        f"{core} in the picture",
        f"{core} {where}",
        f"Here: {core}, {scene.size}",
        f"{scene.size} {core}",
        f"{scene.number} {things}, {scene.size}, {scene.colour}, {where}",
        f"{scene.colour} {things} {where}",
        f"{scene.size} {scene.colour} {things}",
        f"{scene.colour} {things}",
        f"{scene.number} {things}",
        f"all {scene.colour}",
        where,
        scene.size,
        scene.number,
        ground,
    ]


@cache
def _audited() -> frozenset[str]:
    return frozenset(text.lower() for split in (circus_split(), pinpoint_split()) for text in split.texts)


def _drawn(scene: Scene, turn: int) -> Drawn:
    values: dict[str, Any] = {field.name: getattr(scene, field.name) for field in fields(Scene)}
    outlined = draw("outlined", scene, turn) % _OUTLINED == 0
    return Drawn(**{**values, "finish": "outlined" if outlined else "plain"}, turn=turn)


def _encoder_digest() -> str:
    """Return the digest of the encoder's source: other code trains other heads."""
    digest = hashlib.sha256()
    for source in sorted(Path(small.__file__).parent.glob("small*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
