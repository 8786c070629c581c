"""``demo-emoji`` over a tiny made-up package: queries ask for their targets, and training sees none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demo import emoji
from demo.emoji.records import captions, held_out
from demo.emoji.tables import COLOURS, TONES
from demo.emoji.writing import training_pairs
from evaluator import bundle
from evaluator.types import Subset


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hearts of all colours, runners in all tones and genders, and a few things; every picture is one colour."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("package")
    pictures = folder / "img" / "google" / "64"
    pictures.mkdir(parents=True)
    rows = [row(point, f"{colour} HEART", "Smileys & Emotion", "heart") for point, colour in COLOURS["heart"].items()]
    for suffix, name in (("", "RUNNER"), ("-200d-2640-fe0f", "WOMAN RUNNING"), ("-200d-2642-fe0f", "MAN RUNNING")):
        made = row(f"1f3c3{suffix}", name, "People & Body", "person-activity")
        made["skin_variations"] = {tone.upper(): {"image": f"1f3c3-{tone}{suffix}.png"} for tone in TONES}
        rows.append(made)
    rows += [row(f"1f4{number:02x}", f"THING {chr(65 + number)}", "Objects", "tool") for number in range(24)]
    (folder / "emoji.json").write_text(json.dumps(rows))
    for one in rows:
        for name in (one["image"], *(variant["image"] for variant in one.get("skin_variations", {}).values())):
            Image.new("RGBA", (64, 64), (200, 30, 30, 128)).save(pictures / name)
    return folder


def row(points: str, name: str, category: str, group: str) -> dict[str, object]:
    return {
        "name": name,
        "short_name": name.lower().replace(" ", "_"),
        "image": f"{points}.png",
        "category": category,
        "subcategory": group,
    }


def test_queries_are_about_what_training_never_sees(package: Path) -> None:
    """Else the encoder would be audited on what it learned by heart."""
    known = emoji.read_emoji(package)
    split, _ = emoji.emoji_split(known)
    held = held_out(known)
    about = {known[reference[0]].base for reference in split.references}
    about |= {known[image].base for image in split.judgments.image.tolist()}
    assert about <= held
    trained = {Path(name).stem for name, _ in training_pairs(known)}
    assert trained == {one.id for one in known if one.base not in held}


def test_a_tone_query_asks_for_the_tone_of_its_target(package: Path) -> None:
    """And nothing else of the reference changes."""
    known = emoji.read_emoji(package)
    split, kinds = emoji.emoji_split(known)
    target = dict(zip(split.judgments.query.tolist(), split.judgments.image.tolist(), strict=True))
    seen = 0
    for number, query in enumerate(split.query_ids):
        if kinds[query] == "tone":
            reference, wanted = known[split.references[number][0]], known[target[number]]
            assert f"{wanted.tone} skin tone" in split.texts[number]
            assert reference.rest == wanted.rest
            assert reference.tone != wanted.tone
            seen += 1
    assert seen


def test_sf_and_v_are_absent_with_a_reason_and_one_target_is_right(package: Path) -> None:
    """Nobody published lists; the board must say so rather than show an empty column."""
    split, _ = emoji.emoji_split(emoji.read_emoji(package))
    assert set(split.absent) == {Subset.SF, Subset.V}
    assert split.judgments.positive.all()
    assert split.judgments.query.tolist() == list(range(len(split)))


def test_captions_name_the_tone(package: Path) -> None:
    """Words of tones must be learned from other emoji."""
    dark = next(one for one in emoji.read_emoji(package) if one.id == "1f3c3-1f3ff")
    assert list(captions(dark)) == ["runner, dark skin tone"]


def test_writing_is_whole_repeatable_and_on_white(package: Path, tmp_path: Path) -> None:
    """Half transparent red on black would be another picture for every program that drops the alpha channel."""
    from PIL import Image

    first, second = (emoji.write(tmp_path / name, package) for name in ("first", "second"))
    assert first == second == emoji.write(tmp_path / "first", package)
    split = bundle.load(tmp_path / "first" / first.bundle)
    assert bundle.digest(split) == first.digest
    with Image.open(tmp_path / "first" / first.images / f"{split.images[0]}.png") as picture:
        assert picture.mode == "RGB"
        assert min(picture.getpixel((0, 0))) > 100


def test_without_npm_and_archive_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network and no npm is the common case in an institute's cellar."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(emoji.SourceError, match="npm was not found"):
        emoji.fetch(tmp_path / "state")
