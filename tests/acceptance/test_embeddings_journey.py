"""Vectors for every image of a real gallery, from the upload page over a line that breaks to the result.

CIRR's 21,551 images as CIRCUS ranks them, with short vectors, by default. ``CIRBOARD_TEST_DIMENSIONS=1600`` takes
PinPoint instead, with files as large as those of a real encoder: a gallery of 350 MB and three times 25 MB of queries.
What the processes then hold is printed, and stands in ``docs/maintaining.md``.
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acceptance.whole_site import MIB, PASSWORD, Site, watched
from cutting import CuttingProxy
from sending import ROOT

from evaluator import bundle
from evaluator.types import Condition, Split

log = logging.getLogger(__name__)

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DIMENSIONS = int(os.environ.get("CIRBOARD_TEST_DIMENSIONS", "64"))
LARGE = DIMENSIONS >= 1024
BOARD, IMAGES = ("pinpoint", 109_601) if LARGE else ("circus-cirr", 21_551)
COMMAND, *FOLDERS = (
    ("import_pinpoint", "pinpoint") if LARGE else ("import_circus", "circus", "cirr", "fashioniq", "circo", "lasco")
)
CUTS = 3
WEB_GROWTH = 64.0
"""MiB that the web process may grow by, however large the files are."""
FIELDS = {"multimodal": Condition.MULTIMODAL, "text_only": Condition.TEXT_ONLY, "image_only": Condition.IMAGE_ONLY}


@pytest.fixture
def site(tmp_path: Path, data_folder: Path) -> Iterator[Site]:
    """The real boards and a person who may submit to them."""
    running = Site(tmp_path)
    running.manage("migrate", "--no-input")
    running.manage("collectstatic", "--no-input")
    running.manage(COMMAND, *(str(data_folder / folder) for folder in FOLDERS))
    running.add_user("ada@example.org")
    running.start()
    yield running
    running.stop()


@pytest.fixture
def page(chromium: Any, site: Site) -> Iterator[Any]:
    """A signed-in window whose line to the site is cut three times while the gallery is sent."""
    gallery = 2 * IMAGES * DIMENSIONS
    with CuttingProxy(site.port, after=gallery // (CUTS + 1), times=CUTS) as line:
        context = chromium.new_context(base_url=f"http://localhost:{line.port}")
        opened = context.new_page()
        opened.set_default_timeout(1_800_000 if LARGE else 120_000)
        opened.goto("/account/login/")
        opened.get_by_label("Email").fill("ada@example.org")
        opened.get_by_label("Password").fill(PASSWORD)
        opened.locator("main button[type=submit]").click()
        opened.wait_for_url("**/submissions/")
        yield opened
        assert line.cuts == CUTS, "the line did not break as often as this test is about"
        context.close()


def split_of_kit(page: Any, folder: Path) -> tuple[Path, Split]:
    """Download the kit as anybody does, and return the bundle in it."""
    kit = page.request.get(f"/boards/{BOARD}/kit.zip").body()
    with zipfile.ZipFile(io.BytesIO(kit)) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("bundle.zip"))
        path = folder / "bundle.zip"
        path.write_bytes(archive.read(name))
    return path, bundle.load(path)


def made_vectors(split: Split, folder: Path) -> dict[str, Path]:
    """Write a gallery, and queries that lie near one of their right answers, nearest where both parts are read."""
    random = np.random.default_rng(1)
    gallery = random.standard_normal((len(split.images), DIMENSIONS), dtype=np.float32)
    right = np.flatnonzero(split.judgments.positive)
    _, first = np.unique(split.judgments.query[right], return_index=True)
    targets = split.judgments.image[right[first]]
    paths = {"gallery": saved(folder / "gallery.npz", gallery, split.images)}
    for noise, field in zip((1.0, 1.6, 2.2), FIELDS, strict=True):
        queries = gallery[targets] + noise * random.standard_normal((len(split), DIMENSIONS), dtype=np.float32)
        paths[field] = saved(folder / f"{field}.npz", queries, split.query_ids)
    return paths


def saved(path: Path, matrix: Any, ids: Any) -> Path:
    with path.open("wb") as opened:
        np.savez(opened, vectors=matrix.astype(np.float16), ids=np.array(ids))
    return path


def submit(page: Any, address: str, method: str, files: dict[str, Path]) -> dict[str, Any]:
    """Fill in the form, send it, wait until the page says that it is scored; return what the API says."""
    page.goto(address)
    for field, path in files.items():
        page.locator(f"input[type=file][name={field}]").set_input_files(path)
    page.locator("[name=method]").fill(method)
    page.locator("[name=backbone]").fill("made up")
    for name, value in (("supervision", "zero-shot"), ("query_text", "as-released"), ("system", "single")):
        page.locator(f"[name={name}][value={value}]").check()
    page.locator("[name=weights][value=open]").check()
    page.locator("[name=training_overlap][value=none]").check()
    page.get_by_role("button", name="Upload and score").click()
    page.wait_for_url("**/submissions/*-*/")
    page.locator(".state .mark.scored").wait_for()
    identity = page.url.rstrip("/").rsplit("/", 1)[-1]
    return dict(page.request.get(f"/api/v1/submissions/{identity}/").json())


def scores_of(told: dict[str, Any]) -> dict[str, dict[tuple[str, ...], Any]]:
    """Return board -> (subset, condition, group, measure) -> value and interval."""
    return {
        evaluation["split"]: {
            (row["subset"], row["condition"], row["group"], row["measure"]): (row["value"], row["low"], row["high"])
            for row in evaluation["scores"]
        }
        for evaluation in told["evaluations"]
    }


def ranked_at_home(path: Path, files: dict[str, Path], folder: Path) -> dict[str, Path]:
    """Run the command that writes judged ranks; return field -> file."""
    command = [sys.executable, "-m", "evaluator", "ranks", "--split", str(path), "--out", str(folder)]
    for field, file in files.items():
        command += [f"--{field.replace('_', '-')}", str(file)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return {field: next(folder.glob(f"*.{condition}.ranks.csv")) for field, condition in FIELDS.items()}


def test_vectors_by_the_website_give_what_judged_ranks_give(page: Any, site: Site, tmp_path: Path) -> None:
    """The link is cut three times, memory stays bounded, and ranking at home gives the same numbers."""
    path, split = split_of_kit(page, tmp_path)
    files = made_vectors(split, tmp_path)
    with watched(site) as memory:
        sent = submit(page, f"/submit/{BOARD}/embeddings/", "By vectors", files)
    for name in memory.peak:
        log.info("%s: %.0f MiB, at most %.0f MiB more", name, memory.start[name] / MIB, memory.growth(name))
    assert memory.growth("web") < WEB_GROWTH
    assert sent["gallery"][0]["size"] == files["gallery"].stat().st_size
    found = scores_of(sent)
    assert {condition for _, condition, _, _ in found[BOARD]} >= {*FIELDS.values()}
    if not LARGE:
        gaps = [found[BOARD][subset, "", "", "CompositionGap"] for subset in ("Full", "SF", "V")]
        assert all(None not in gap for gap in gaps)
    ranks = ranked_at_home(path, files, tmp_path / "ranks")
    told = submit(page, f"/submit/{BOARD}/", "By ranks", ranks)
    assert scores_of(told) == found
