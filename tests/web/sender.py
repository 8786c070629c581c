"""A browser that sends large files: a page with a form of its own, and an ear for what goes over the line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cutting import CuttingProxy
from web.web_makers import PASSWORD

from uploads.models import Upload
from uploads.services import fetch

MB = 10**6
FORM = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Trial</title>
    <link rel="stylesheet" href="/static/cirboard.css"><link rel="icon" href="/static/icon.svg">
    <script type="module" src="/static/upload.js"></script>
  </head>
  <body><main><h1>Trial</h1>
    <form method="post" enctype="multipart/form-data" action="/trial/sent/" data-resumable="/api/v1/uploads/"
          data-resumable-max="{most}">
      <input type="hidden" name="csrfmiddlewaretoken" value="{token}"><input type="hidden" name="kind" value="{kind}">
      <div class="field"><label for="gallery">Gallery</label>
        <input type="file" id="gallery" name="gallery" data-resumable-field>
        <input type="hidden" name="gallery_upload" value="{brought}"><div data-progress-for="gallery"></div></div>
      <div class="field"><label for="before">Sent before</label><select id="before" name="gallery_digest">
        <option value="">None</option><option value="{before}" data-digest="{before}">old.npz</option></select></div>
      <div class="field"><label for="queries">Queries</label>
        <input type="file" id="queries" name="queries" data-resumable-field>
        <input type="hidden" name="queries_upload"><div data-progress-for="queries"></div></div>
      <p class="actions"><button type="submit" name="check_only" value="true">Upload and score</button></p>
    </form></main></body>
</html>"""


def made(folder: Path, name: str, size: int, seed: bytes = b"0") -> Path:
    """Write a file of bytes that do not repeat, and return it."""
    path = folder / name
    path.write_bytes(hashlib.shake_128(seed).digest(size))
    return path


def stored(folder: Path) -> bytes:
    """Return the bytes of the one upload that is here."""
    return fetch(Upload.objects.get().stored, folder).read_bytes()


class Sender:
    """A signed-in window on the trial form."""

    def __init__(self, chromium: Any, port: int, **options: Any) -> None:
        self.address = f"http://localhost:{port}"
        self.context = chromium.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(40_000)
        self.complaints: list[str] = []
        self.forgiven: tuple[str, ...] = ()
        """Words of complaints that a test brings about itself."""
        self.foreign: list[str] = []
        self.offsets: list[int] = []
        """Where each part began that was sent."""
        self.posted: list[str] = []
        """The bodies of the trial form."""
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("request", self._see)
        self.context.route("**/trial/sent/", self._receive)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def trouble(self) -> list[str]:
        """Return complaints of the browser that no test asked for, and what was asked of other hosts."""
        unasked = [text for text in self.complaints if not any(words in text for words in self.forgiven)]
        return unasked + self.foreign

    def _see(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.foreign.append(request.url)
        if request.method == "PATCH":
            self.offsets.append(int(request.headers["upload-offset"]))

    def _receive(self, route: Any) -> None:
        self.posted.append((route.request.post_data_buffer or b"").decode("utf-8", "replace"))
        route.fulfill(body="<title>Sent</title>sent", content_type="text/html")

    def sign_in(self, email: str) -> None:
        self.page.goto(f"{self.address}/account/login/")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.locator("main button[type=submit]").click()
        self.page.wait_for_url("**/submissions/")

    def open_form(self, most: int = 4 * 2**30, before: str = "", kind: str = "embeddings", brought: object = "") -> Any:
        """Open the trial form on a page of the site's own address.

        ``before``: digest of a gallery that was sent before; ``brought``: the upload that the server gives back in a
        form with faults.
        """
        token = next(item["value"] for item in self.context.cookies() if item["name"] == "csrftoken")
        html = FORM.format(token=token, most=most, before=before, kind=kind, brought=brought)
        self.context.unroute("**/trial/")
        self.context.route("**/trial/", lambda route: route.fulfill(body=html, content_type="text/html"))
        self.page.goto(f"{self.address}/trial/")
        return self.page

    def choose(self, path: Path, field: str = "gallery") -> None:
        self.page.locator(f"#{field}").set_input_files(path)

    def box(self, field: str = "gallery") -> Any:
        return self.page.locator(f"[data-progress-for={field}] .transfer")

    def wait(self, kind: str, field: str = "gallery") -> Any:
        """Wait until a field says so: sending, paused, whole …"""
        self.page.wait_for_selector(f"[data-progress-for={field}] .transfer.{kind}")
        return self.box(field)

    def wait_percent(self, least: int) -> None:
        """Wait until so much of the gallery was sent."""
        self.wait("sending")
        self.page.wait_for_function(f"document.querySelector('.sending progress').value > {least}")

    def press(self, label: str, field: str = "gallery") -> None:
        self.box(field).get_by_role("button", name=label).click()


@contextmanager
def slow(port: int, megabytes: float, **cuts: int) -> Iterator[CuttingProxy]:
    """A line to the live server that takes so many megabytes a second."""
    with CuttingProxy(port, bytes_per_second=megabytes * MB, **cuts) as proxy:
        yield proxy
