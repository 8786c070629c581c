"""The audit's figures in a real browser: drawn from this host alone, without a complaint, on a phone and on a desk."""

from __future__ import annotations

from typing import Any

import pytest
from web.audit_pages import audited, job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_page(chromium: Any, address: str, width: int, scheme: str) -> tuple[Any, list[str], list[str]]:
    """Open a page and scroll through it, so that every figure comes into sight. Returns it, complaints, requests."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    for place in page.locator("[data-figure]").all():
        place.scroll_into_view_if_needed()
        page.wait_for_selector(f"[data-figure={place.get_attribute('data-figure')}][data-drawn]", timeout=20_000)
    return page, complaints, asked


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_every_figure_is_drawn_from_this_host_alone(
    chromium: Any, live_server: Any, width: int, scheme: str, tmp_path: Any
) -> None:
    audited("demo-circus", models=3)
    for name, path in (("report", "/audits/demo-circus/2/"), ("flow", "/audits/demo-circus/1/to/2/")):
        page, complaints, asked = open_page(chromium, live_server.url + path, width, scheme)
        assert page.locator("[data-figure]").count() == page.locator("[data-drawn] .main-svg").locator("..").count() > 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert all(url.startswith((live_server.url, "data:", "blob:")) for url in asked), asked
        page.screenshot(path=tmp_path / f"{name}-{scheme}-{width}.png", full_page=True)
        page.context.close()
        assert complaints == []


def test_the_page_of_a_job_follows_it(chromium: Any, live_server: Any) -> None:
    from audit.models import Job

    audited()
    made = job()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{live_server.url}/audits/jobs/{made.pk}/")
    page.get_by_text("250 of 1,000 inputs").wait_for()
    Job.objects.filter(pk=made.pk).update(done=750, seconds_left=20.0)
    page.get_by_text("text-only: 750 of 1,000 inputs, 12.5 a second, about 20 s left").wait_for(timeout=10_000)
    Job.objects.filter(pk=made.pk).update(
        state="failed", reason="The graphics card has too little memory: take --batch 8."
    )
    page.get_by_text("take --batch 8").wait_for(timeout=10_000)
    context.close()
