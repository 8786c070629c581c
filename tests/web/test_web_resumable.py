"""Large files from a real browser: what a broken line, a reload or a tired person would otherwise lose."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cutting import CuttingProxy
from web.sender import MB, Sender, made, slow, stored
from web.web_makers import user

from evaluator.digests import BLOCK, BlockDigest, digest_of_file
from uploads.models import Upload

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Open = Callable[..., Sender]


@pytest.fixture
def opened(chromium: Any, live_server: Any) -> Iterator[Open]:
    """Return what opens a signed-in window; afterwards none may have complained or asked anybody else."""
    windows: list[Sender] = []
    user("ada@example.org")

    def open_window(port: int = live_server.thread.port, **options: Any) -> Sender:
        windows.append(Sender(chromium, port, **options))
        windows[-1].sign_in("ada@example.org")
        return windows[-1]

    yield open_window
    for window in windows:
        window.context.close()
    assert [text for window in windows for text in window.trouble()] == []


@pytest.fixture
def port(live_server: Any) -> int:
    return int(live_server.thread.port)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 20 * 2**20])
def test_the_browser_computes_the_same_digest(opened: Open, size: int) -> None:
    """Another digest would find nothing that was sent before, and every whole upload would be thrown away."""
    content = (bytes(range(251)) * (size // 251 + 1))[:size]
    digest = BlockDigest()
    digest.update(content)
    page = opened().open_form()
    script = """async (size) => {
      const { digestOf } = await import("/static/digest.js");
      const bytes = new Uint8Array(size).map((_, at) => at % 251);
      const steps = [];
      return [await digestOf(new File([bytes], "x"), { progress: (done) => steps.push(done) }), steps.at(-1) ?? 0];
    }"""
    assert page.evaluate(script, size) == [digest.hexdigest(), size]


def test_a_large_file_is_sent_while_the_form_is_filled_in(opened: Open, port: int, tmp_path: Path) -> None:
    gallery = made(tmp_path, "gallery.npz", 20 * MB)
    with slow(port, 6) as line:
        window = opened(line.port)
        window.open_form()
        window.choose(gallery)
        box = window.wait("sending")
        words = box.get_by_text(re.compile(r"[\d.]+ of 20 MB · [\d.]+ MB/s · \d+ s left"))
        words.wait_for()
        assert box.locator("progress").get_attribute("aria-labelledby") == box.locator(".transfer-name").get_attribute(
            "id"
        )
        assert "gallery.npz" in window.page.get_by_role("status").first.inner_text()
        window.wait("whole")
    assert "All of it is here: 20 MB." in box.inner_text()
    assert window.offsets == [0, BLOCK, 2 * BLOCK]
    assert stored(tmp_path) == gallery.read_bytes()
    assert Upload.objects.get().digest == digest_of_file(gallery)


def test_the_form_waits_and_then_carries_small_fields_only(opened: Open, port: int, tmp_path: Path) -> None:
    """Small files of vectors go the same way, so that no large request is left that a broken line could end."""
    with slow(port, 10) as line:
        window = opened(line.port)
        page = window.open_form()
        window.choose(made(tmp_path, "gallery.npz", 12 * MB))
        window.choose(made(tmp_path, "queries.npy", 1 * MB, b"1"), "queries")
        assert window.box("queries").is_hidden()
        page.get_by_role("button", name="Upload and score").click()
        page.wait_for_selector("button[aria-disabled=true]:has-text('Uploading…')")
        page.locator("button[aria-disabled=true]").evaluate("button => button.click()")  # an impatient second time
        page.wait_for_url("**/trial/sent/")
    (body,) = window.posted
    ids = {upload.name: str(upload.public_id) for upload in Upload.objects.all()}
    assert re.search(rf'name="gallery_upload"\s+{ids["gallery.npz"]}', body)
    assert re.search(rf'name="queries_upload"\s+{ids["queries.npy"]}', body)
    assert re.search(r'name="check_only"\s+true', body), "the button that was pressed goes with it"
    assert "filename=" not in body
    assert {upload.offset for upload in Upload.objects.all()} == {12 * MB, 1 * MB}


def test_pause_stops_the_traffic_and_resume_goes_on(opened: Open, port: int, tmp_path: Path) -> None:
    gallery = made(tmp_path, "gallery.npz", 30 * MB)
    with slow(port, 20) as line:
        window = opened(line.port)
        window.open_form()
        window.choose(gallery)
        window.wait_percent(45)
        window.press("Pause")
        window.wait("paused")
        window.page.wait_for_timeout(600)  # what was under way when it was pressed
        sent, parts = line.sent, len(window.offsets)
        window.page.wait_for_timeout(700)
        assert (line.sent, len(window.offsets)) == (sent, parts)
        window.press("Resume")
        window.wait("whole")
    assert window.offsets[parts] >= BLOCK
    assert stored(tmp_path) == gallery.read_bytes()
    window.forgiven = ("409", "423")


def test_after_a_reload_the_file_is_chosen_again_and_goes_on(opened: Open, port: int, tmp_path: Path) -> None:
    gallery = made(tmp_path, "gallery.npz", 30 * MB)
    with slow(port, 20) as line:
        window = opened(line.port)
        page = window.open_form()
        window.choose(gallery)
        window.wait_percent(45)
        page.once("dialog", lambda dialog: dialog.accept())
        page.reload()
        box = window.wait("remembered")
        assert re.search(
            r"gallery\.npz\s+[\d.]+ of 30 MB are here\. Choose the file again to go on\.", box.inner_text()
        )
        parts = len(window.offsets)
        window.choose(gallery)
        window.wait("whole")
        page.reload()
        assert "All of it is here" in window.wait("whole").inner_text()
    assert window.offsets[parts] >= BLOCK
    assert stored(tmp_path) == gallery.read_bytes()
    window.forgiven = ("409", "423")
    assert page.locator("[name=gallery_upload]").input_value() == str(Upload.objects.get().public_id)


def test_another_browser_recognises_the_bytes(opened: Open, tmp_path: Path) -> None:
    """Without any memory of its own: another computer of the same person, another name of the file."""
    first = opened()
    first.open_form()
    first.choose(made(tmp_path, "gallery.npz", 9 * MB))
    first.wait("whole")
    second = opened()
    second.open_form()
    second.choose(made(tmp_path, "renamed.npz", 9 * MB))
    assert "All of it is here already: 9.0 MB." in second.wait("whole").inner_text()
    assert second.offsets == []
    assert Upload.objects.count() == 1


def test_a_gallery_that_was_sent_before_is_chosen_and_not_sent(opened: Open, tmp_path: Path) -> None:
    gallery = made(tmp_path, "gallery.npz", 9 * MB)
    window = opened()
    page = window.open_form(before=digest_of_file(gallery))
    window.choose(gallery)
    assert "Nothing needs to be sent." in window.wait("before").inner_text()
    assert page.locator("#before").input_value() == digest_of_file(gallery)
    page.get_by_role("button", name="Upload and score").click()
    page.wait_for_url("**/trial/sent/")
    assert 'filename="gallery.npz"' not in window.posted[0]
    assert not Upload.objects.exists()


def test_a_gallery_that_was_sent_before_can_be_sent_all_the_same(opened: Open, tmp_path: Path) -> None:
    gallery = made(tmp_path, "gallery.npz", 9 * MB)
    window = opened()
    page = window.open_form(before=digest_of_file(gallery))
    window.choose(gallery)
    window.wait("before")
    page.locator("#before").select_option("")
    window.wait("whole")
    assert page.locator("#before").input_value() == ""


def test_a_form_that_comes_back_with_faults_keeps_what_was_sent(opened: Open, tmp_path: Path) -> None:
    window = opened()
    window.open_form()
    window.choose(made(tmp_path, "gallery.npz", 9 * MB))
    window.wait("whole")
    window.page.evaluate("localStorage.clear()")
    page = window.open_form(brought=Upload.objects.get().public_id)
    assert re.search(r"gallery\.npz\s+All of it is here: 9\.0 MB\.", window.wait("whole").inner_text())
    window.press("Remove")
    assert page.locator("[name=gallery_upload]").input_value() == ""
    page.wait_for_timeout(500)
    assert not Upload.objects.exists()


def test_a_line_that_is_cut_three_times_loses_no_byte(opened: Open, port: int, tmp_path: Path) -> None:
    gallery = made(tmp_path, "gallery.npz", 40 * MB)
    with CuttingProxy(port, after=11 * MB, times=3) as line:
        window = opened(line.port)
        window.open_form()
        window.choose(gallery)
        window.wait("whole")
        assert line.cuts == 3
    assert window.offsets == sorted(window.offsets), "it goes on where it broke"
    assert window.offsets.count(0) == 1
    assert stored(tmp_path) == gallery.read_bytes()
    window.forgiven = (
        "ERR_CONNECTION",
        "ERR_EMPTY_RESPONSE",
        "409",
        "423",
    )


def test_a_part_that_arrives_changed_is_sent_again(opened: Open, tmp_path: Path) -> None:
    gallery = made(tmp_path, "gallery.npz", 12 * MB)
    window = opened()
    window.open_form()
    wrong = iter(["sha256 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="])

    def change(route: Any) -> None:
        said = {"upload-checksum": next(wrong, route.request.headers.get("upload-checksum", ""))}
        route.continue_(headers={**route.request.headers, **said} if route.request.method == "PATCH" else None)

    window.context.route("**/api/v1/uploads/*/", change)
    window.choose(gallery)
    window.wait("whole")
    assert window.offsets == [0, 0, BLOCK]
    assert stored(tmp_path) == gallery.read_bytes()
    window.forgiven = ("460",)


def test_everything_by_keyboard_alone(opened: Open, port: int, tmp_path: Path) -> None:
    with slow(port, 5) as line:
        window = opened(line.port)
        page = window.open_form()
        window.choose(made(tmp_path, "gallery.npz", 20 * MB))
        window.wait("sending")
        page.locator("#gallery").focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.ariaLabel") == "Pause gallery.npz"
        page.keyboard.press("Enter")
        window.wait("paused")
        assert page.evaluate("document.activeElement.ariaLabel") == "Resume gallery.npz", "the focus is not lost"
        page.keyboard.press("Enter")
        window.wait("sending")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.ariaLabel") == "Remove gallery.npz"
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.id === 'gallery'")
        assert window.box().is_hidden()
        page.wait_for_timeout(2500)
    assert not Upload.objects.exists(), "what is removed does not stay on the server"
    window.forgiven = ("409", "423")


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(opened: Open, tmp_path: Path) -> None:
    window = opened()
    page = window.open_form(most=5 * MB)
    window.choose(made(tmp_path, "gallery.npz", 9 * MB))
    assert "This file has 9.0 MB; at most 5.0 MB are taken." in window.wait("refused").inner_text()
    page.get_by_role("button", name="Upload and score").click()
    page.wait_for_function("document.activeElement.classList.contains('refused')")
    assert window.posted == []


def test_leaving_while_a_file_is_sent_asks_first(opened: Open, port: int, tmp_path: Path) -> None:
    with slow(port, 5) as line:
        window = opened(line.port)
        page = window.open_form()
        window.choose(made(tmp_path, "gallery.npz", 20 * MB))
        window.wait("sending")
        page.locator("h1").click()  # browsers ask only where somebody did something
        kinds: list[str] = []
        page.once("dialog", lambda dialog: (kinds.append(dialog.type), dialog.dismiss()))
        page.evaluate("setTimeout(() => location.reload(), 0)")
        page.wait_for_timeout(500)
        assert kinds == ["beforeunload"]
        window.press("Remove")
    window.forgiven = (
        "ERR_CONNECTION",
        "409",
        "423",
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_spills_on_a_phone(opened: Open, tmp_path: Path, scheme: str) -> None:
    window = opened(viewport={"width": 320, "height": 640}, color_scheme=scheme)
    page = window.open_form()
    window.choose(made(tmp_path, "a-very-long-name-without-any-blank-" * 4 + ".npz", 9 * MB))
    window.wait("whole")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_browser_that_cannot_hash_still_resumes(opened: Open, port: int, tmp_path: Path) -> None:
    """Plain http within a laboratory is no secure context: there are no digests, and the browser's memory must do."""
    gallery = made(tmp_path, "gallery.npz", 30 * MB)
    with slow(port, 20) as line:
        window = opened(line.port)
        window.context.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined })")
        page = window.open_form()
        window.choose(gallery)
        window.wait_percent(45)
        page.once("dialog", lambda dialog: dialog.accept())
        page.reload()
        window.wait("remembered")
        parts = len(window.offsets)
        window.choose(gallery)
        window.wait("whole")
    assert window.offsets[parts] > 0
    assert hashlib.sha256(stored(tmp_path)).digest() == hashlib.sha256(gallery.read_bytes()).digest()
    window.forgiven = ("409", "423")


def test_what_the_server_says_is_shown_and_can_be_tried_again(opened: Open, tmp_path: Path) -> None:
    window = opened()
    page = window.open_form()
    answers = iter([429])

    def refuse(route: Any) -> None:
        if route.request.method == "POST" and next(answers, None):
            route.fulfill(status=429, json={"detail": "Your team has 16 GB here. Submit or remove some first."})
        else:
            route.fallback()

    window.context.route("**/api/v1/uploads/", refuse)
    window.choose(made(tmp_path, "gallery.npz", 9 * MB))
    assert "Your team has 16 GB here." in window.wait("failed").inner_text()
    page.get_by_role("button", name="Upload and score").click()  # whoever submits wants it tried again
    page.wait_for_url("**/trial/sent/")
    assert str(Upload.objects.get().public_id) in window.posted[0]
    window.forgiven = ("429",)


def test_small_files_of_a_ranking_form_go_with_the_form(opened: Open, tmp_path: Path) -> None:
    window = opened()
    page = window.open_form(kind="rankings")
    window.choose(made(tmp_path, "small.json", 1 * MB))
    page.get_by_role("button", name="Upload and score").click()
    page.wait_for_url("**/trial/sent/")
    assert 'filename="small.json"' in window.posted[0]
    assert not Upload.objects.exists()
