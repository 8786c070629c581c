"""Pictures of a split: only images of it, only from its folder, only where they may be shown, never as they lie."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from web.web_makers import frozen

from demo.tiny import tiny_split
from leaderboard import picture_files, thumbnails
from leaderboard.picture_addresses import addresses
from leaderboard.services.splits import freeze_split

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look at the folder at every request, and start with nothing known."""
    monkeypatch.setattr(picture_files, "CHECKED_FOR_SECONDS", 0.0)
    picture_files._found.clear()
    yield
    picture_files._found.clear()


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    """Return the empty folder of the board demo-circus."""
    settings.IMAGES = tmp_path / "images"
    settings.VAR = tmp_path / "var"
    made = tmp_path / "images" / "demo-circus"
    made.mkdir(parents=True)
    return made


def draw(path: Path, size: tuple[int, int] = (800, 400), **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "teal").save(path, **options)
    return path


def get(image: str, width: str = "160", slug: str = "demo-circus", **headers: str) -> Any:
    return Client().get(f"/boards/{slug}/picture/", {"id": image, "width": width}, headers=headers)


def test_a_picture_is_a_small_webp_without_metadata_and_is_kept(folder: Path) -> None:
    version = frozen("demo-circus", "circus-multi")
    image = version.queries.first().references[0]  # type: ignore[union-attr]
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "A camera's name"
    draw(folder / "deep" / f"{image}.jpg", exif=exif)
    answer = get(image)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/webp"
    assert answer.headers["Cache-Control"] == "public, max-age=86400"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Set-Cookie" not in answer.headers
    shown = Image.open(io.BytesIO(answer.content))
    assert shown.size == (80, 160), "a picture that lies on its side was not turned"
    assert not shown.getexif()
    assert get(image, **{"If-None-Match": answer.headers["ETag"]}).status_code == 304
    draw(folder / "deep" / f"{image}.jpg", (100, 100))
    changed = get(image, **{"If-None-Match": answer.headers["ETag"]})
    assert changed.status_code == 200, "a changed file was taken for the old one"
    assert Image.open(io.BytesIO(changed.content)).size == (100, 100)


def test_a_new_file_and_a_removed_one_are_seen(folder: Path) -> None:
    version = frozen("demo-circus", "circus-multi")
    image = version.queries.first().references[0]  # type: ignore[union-attr]
    assert get(image).status_code == 404
    path = draw(folder / f"{image}.png")
    os.utime(folder, ns=(1, 1))  # some file systems count in seconds
    assert get(image).status_code == 200
    path.unlink()
    assert get(image).status_code == 404


@pytest.mark.parametrize("width", ["", "0", "161", "99999", "-160", "x", "160 "])
def test_no_other_width_is_made(folder: Path, width: str) -> None:
    version = frozen("demo-circus", "circus-multi")
    image = version.queries.first().references[0]  # type: ignore[union-attr]
    draw(folder / f"{image}.png")
    assert get(image, width).status_code == 404


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    odd=st.one_of(
        st.text(max_size=40), st.sampled_from(["../secret", "..", "/etc/passwd", "secret.png", "\0", "%2e%2e/secret"])
    )
)
def test_odd_ids_and_paths_are_no_images(folder: Path, odd: str) -> None:
    version = frozen("demo-circus", "circus-multi")
    if not (folder.parent / "secret.png").exists():
        draw(folder.parent / "secret.png")
        draw(folder / "secret.png")
    known = {image for query in version.queries.all() for image in query.references}
    if odd not in known:
        assert get(odd).status_code == 404


def test_links_out_of_the_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    version = frozen("demo-circus", "circus-multi")
    first, second, third = (version.queries.all()[n].references[0] for n in range(3))
    outside = draw(tmp_path / "elsewhere" / f"{second}.png")
    (folder / f"{first}.png").symlink_to(outside)
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    draw(folder / "own" / "a.png")
    (folder / f"{third}.png").symlink_to(folder / "own" / "a.png")
    assert [get(image).status_code for image in (first, second, third)] == [404, 404, 200]
    found = addresses(version)
    assert [bool(found.shown(image).source) for image in (first, second, third)] == [False, False, True]


def test_the_boards_folder_itself_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    version = frozen("demo-circus", "circus-multi")
    image = version.queries.first().references[0]  # type: ignore[union-attr]
    draw(tmp_path / "disk" / f"{image}.png")
    folder.rmdir()
    folder.symlink_to(tmp_path / "disk")
    assert get(image).status_code == 200


def test_what_is_too_large_or_no_picture_is_not_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = frozen("demo-circus", "circus-multi")
    first, second, third = (version.queries.all()[n].references[0] for n in range(3))
    Image.new("1", (9_000, 9_000)).save(folder / f"{first}.png")  # a few kB that unpack to 81 million pixels
    (folder / f"{second}.jpg").write_bytes(b"<svg onload=alert(1)>")
    draw(folder / f"{third}.png")
    assert [get(image).status_code for image in (first, second, third)] == [404, 404, 200]
    monkeypatch.setattr(thumbnails, "MOST_BYTES", 10)
    assert get(third, "320").status_code == 404


def test_pictures_of_real_data_are_shown_only_where_the_maintainer_says_so(settings: Any, tmp_path: Path) -> None:
    settings.IMAGES, settings.VAR = tmp_path, tmp_path / "var"
    version = frozen("circus-circo", "circus-multi")
    image = version.queries.first().references[0]  # type: ignore[union-attr]
    draw(tmp_path / "circus-circo" / f"{image}.png")
    assert get(image, slug="circus-circo").status_code == 404
    settings.SHOW_IMAGES = ["circus-circo"]
    assert get(image, slug="circus-circo").status_code == 200


def test_hidden_truth_shows_no_picture(settings: Any, tmp_path: Path) -> None:
    settings.IMAGES, settings.VAR, settings.SHOW_IMAGES = tmp_path, tmp_path / "var", ["cirr-test1"]
    version, _ = freeze_split(replace(tiny_split("cirr", hidden_truth=True), name="cirr-test1"))
    image = version.queries.first().references[0]  # type: ignore[union-attr]
    draw(tmp_path / "cirr-test1" / f"{image}.png")
    assert get(image, slug="cirr-test1").status_code == 404
    assert not addresses(version).any


def test_another_host_gets_the_id_whole_and_with_zeros(settings: Any) -> None:
    version = frozen("circus-circo", "circus-multi")
    settings.IMAGE_URLS = {"circus-circo": "https://pictures.example.org/{id:06}.jpg?of={id}"}
    found = addresses(version)
    assert found.origin == "https://pictures.example.org"
    assert found.shown("42").source == "https://pictures.example.org/000042.jpg?of=42"
    assert found.shown("../a b").source == "https://pictures.example.org/..%2Fa%20b.jpg?of=..%2Fa%20b"
