"""The real form of embeddings, sent over a line that breaks: the submission is received with the very bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cutting import CuttingProxy
from web.sender import MB, Sender
from web.web_makers import DECLARED, frozen, user

from demo.tiny import tiny_split
from evaluator.digests import digest_of_file
from submissions.models import SentFile, Submission
from uploads.models import Upload
from uploads.services import fetch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def vectors(path: Path, ids: Any, width: int) -> Path:
    """Write random vectors with their ids."""
    matrix = np.random.default_rng(len(ids)).normal(size=(len(ids), width)).astype(np.float32)
    np.savez(path, vectors=matrix, ids=np.array(ids))
    return path


def fill_in(page: Any) -> None:
    page.get_by_label("Name").fill("My method")
    for key in ("supervision", "query_text", "system", "weights", "training_overlap"):
        said = DECLARED[key]
        page.locator(f"input[name={key}][value={said[0] if isinstance(said, list) else said}]").check()
    page.get_by_label("Backbone").fill("CLIP")


def test_embeddings_are_received_over_a_line_that_breaks(chromium: Any, live_server: Any, tmp_path: Path) -> None:
    """The second gallery of the same bytes is not sent again."""
    frozen("demo-circus", "circus-multi")
    user("ada@example.org")
    split = tiny_split("circus-multi")
    width = 12 * MB // (4 * len(split.images))
    gallery = vectors(tmp_path / "gallery.npz", split.images, width)
    queries = vectors(tmp_path / "queries.npz", split.query_ids, width)
    with CuttingProxy(live_server.thread.port, after=5 * MB, times=3) as line:
        window = Sender(chromium, line.port)
        window.sign_in("ada@example.org")
        page = window.page
        page.goto(f"{window.address}/submit/demo-circus/embeddings/")
        page.locator("#id_gallery").set_input_files(gallery)
        page.locator("#id_multimodal").set_input_files(queries)
        fill_in(page)
        page.get_by_role("button", name="Upload and score").click()
        page.wait_for_selector(".mark.received")
        assert line.cuts == 3
        sent = len(window.offsets)

        page.goto(f"{window.address}/submit/demo-circus/embeddings/")
        page.locator("#id_gallery").set_input_files(gallery)
        window.wait("before")
        assert page.locator("[name=gallery_digest]").input_value() == digest_of_file(gallery)
        assert len(window.offsets) == sent
    window.context.close()
    window.forgiven = ("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "409", "423")
    assert window.trouble() == []

    submission = Submission.objects.get()
    assert submission.kind == Submission.Kind.EMBEDDINGS
    files = {file.name: file for file in SentFile.objects.all()}
    for path in (gallery, queries):
        assert files[path.name].digest == digest_of_file(path)
        assert digest_of_file(fetch(files[path.name].stored, tmp_path)) == digest_of_file(path)
    assert not Upload.objects.exists(), "whole uploads became files of the submission"
