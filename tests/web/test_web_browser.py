"""What only a real browser can say: nothing spills on a phone, nothing breaks the content policy, the state is live."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sending import ranking, upload, work
from web.web_makers import DECLARED, FIRST_DAY, PASSWORD, add_scores, entry, frozen, user

from accounts.services import personal_team
from demo.tiny import tiny_split

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE, DESK = {"width": 320, "height": 640}, {"width": 1280, "height": 900}
FIRST = ("Recall_any@10", "V")


class Visitor:
    """A browser's window on the site that remembers every complaint of the browser."""

    def __init__(self, chromium: Any, address: str, **options: Any) -> None:
        self.address = address
        self.context = chromium.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._hear(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"a dialog says {dialog.message}"))

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def go(self, path: str) -> Any:
        self.page.goto(self.address + path)
        return self.page

    def sign_in(self, email: str) -> None:
        page = self.go("/account/login/")
        page.get_by_label("Email").fill(email)
        page.get_by_label("Password").fill(PASSWORD)
        page.locator("main button[type=submit]").click()
        page.wait_for_url("**/submissions/")


@pytest.fixture
def visit(chromium: Any, live_server: Any) -> Iterator[Any]:
    """Return what opens a window; afterwards no window may have complained."""
    windows: list[Visitor] = []

    def open_window(**options: Any) -> Visitor:
        windows.append(Visitor(chromium, live_server.url, **options))
        return windows[-1]

    yield open_window
    for window in windows:
        window.context.close()
    assert [complaint for window in windows for complaint in window.complaints] == []


def fill_a_board() -> Any:
    version = frozen("demo-circus", "circus-multi")
    team = personal_team(user("bob@example.org", "<b>Bob</b>"))
    subsets = {("Recall_any@10", subset): 0.5 for subset in ("Full", "SF", "V")}
    others = {(name, subset): 0.25 for name in ("mAP@10", "nDCG@10") for subset in ("Full", "SF", "V")}
    made = entry(version, "<img src=x onerror=alert(1)>", {**subsets, **others}, team=team)
    add_scores(made, {("ShortcutLeak@10", "V"): None}, condition="")
    entry(version, "averyverylongnamewithoutanyblank" * 3, {FIRST: 0.1})
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_spills_over_the_side_of_a_phone(visit: Any, scheme: str) -> None:
    made = fill_a_board()
    window = visit(viewport=PHONE, color_scheme=scheme)
    boards = ("/boards/demo-circus/?columns=all&supervision=zero-shot", "/boards/demo-circus/about/")
    for path in (
        "/",
        *boards,
        f"/entries/{made.public_id}/",
        "/help/formats/",
        "/help/measures/",
        "/submit/",
        "/status/",
    ):
        page = window.go(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(252, 252, 250)" if scheme == "light" else "rgb(20, 23, 26)"
        )


def test_the_table_scrolls_inside_itself_and_keeps_the_method_in_sight(visit: Any) -> None:
    fill_a_board()
    page = visit(viewport=PHONE).go("/boards/demo-circus/")
    box = page.locator(".scroll").first
    assert box.evaluate("element => element.scrollWidth > element.clientWidth")
    before = page.locator("tbody th.method").first.bounding_box()
    box.evaluate("element => { element.scrollLeft = 400 }")
    after = page.locator("tbody th.method").first.bounding_box()
    assert 0 <= after["x"] <= before["x"] + 40
    assert page.locator("tbody th.method").first.inner_text().startswith("<img src=x")


def test_columns_sort_by_keyboard_alone(visit: Any) -> None:
    fill_a_board()
    page = visit(viewport=DESK).go("/boards/demo-circus/")
    page.get_by_role("link", name="SF").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/?sort=*")
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("SF")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_times_are_local_and_utc_stays_at_hand(visit: Any) -> None:
    made = fill_a_board()
    window = visit(viewport=DESK, timezone_id="Asia/Tokyo", locale="en-GB")
    shown = window.go(f"/entries/{made.public_id}/").locator(f'time[datetime="{FIRST_DAY:%Y-%m-%dT%H:%M:%SZ}"]')
    assert shown.inner_text() == "1 Jan 2026, 09:00"
    assert shown.get_attribute("title") == "1 Jan 2026, 00:00 UTC"
    plain = visit(viewport=DESK, java_script_enabled=False).go(f"/entries/{made.public_id}/").locator("time").last
    assert plain.inner_text() == "1 Jan 2026, 00:00 UTC"


def test_upload_waits_and_turns_into_its_result_by_itself(visit: Any) -> None:
    frozen("demo-circus", "circus-multi")
    user("ada@example.org")
    window = visit(viewport=DESK)
    window.sign_in("ada@example.org")
    page = window.go("/submit/demo-circus/")
    file = upload(ranking(tiny_split("circus-multi")))
    page.locator("#id_multimodal").set_input_files(
        {"name": "r.json", "mimeType": "application/json", "buffer": file.read()}
    )
    page.get_by_label("Name").fill("My method")
    for key in ("supervision", "query_text", "system", "weights", "training_overlap"):
        said = DECLARED[key]
        page.locator(f"input[name={key}][value={said[0] if isinstance(said, list) else said}]").check()
    page.get_by_label("Backbone").fill("CLIP")
    page.get_by_role("button", name="Upload and score").click()
    page.wait_for_selector(".mark.received")
    work()
    page.wait_for_selector(".mark.scored")
    page.locator("summary", has_text="Publish").click()
    page.get_by_role("button", name="Yes, publish it").click()
    page.wait_for_selector(".mark.published")
    assert "My method" in window.go("/boards/demo-circus/").locator("table.board").inner_text()
