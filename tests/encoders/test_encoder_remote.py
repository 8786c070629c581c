"""Embedding APIs: what they are sent, how long they are waited for, and that the key shows nowhere."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from time import monotonic, time
from typing import Any

import numpy as np
import pytest
from encoders.api_server import WIDTH, Api, Trouble, serving, vector_of
from encoders.encoder_checks import check_batches, check_conditions, check_shapes, vectors_of
from encoders.tiny_models import pictures_in, queries_of
from PIL import Image

from evaluator.encoders import EncoderError, Query, Spec, open_encoder
from evaluator.encoders.base import Encoder
from evaluator.types import Condition

KEY = "sk-very-secret-0123"
QUICK = {"first_wait_seconds": 0.01, "timeout_seconds": 0.6, "tries": 3}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """Serve, with the key in the environment."""
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    with serving() as found:
        yield found


def spec_for(api: Api, like: str = "voyage", shape: dict[str, Any] | None = None, **options: Any) -> Spec:
    """Return a spec whose API is the local one."""
    asked = {"like": like, "url": api.url + "/{model}", **(shape or {})}
    return Spec("remote", "remote", "some-model", "2026-03", options={"api": asked, **QUICK, **options})


def asked(encoder: Encoder, text: str = "in red") -> np.ndarray:
    """Send one query of a text alone."""
    return encoder.encode_queries([Query("1", (), text)], Condition.MULTIMODAL)


@pytest.mark.parametrize("like", ["gemini", "voyage"])
def test_both_apis_run_all_conditions(api: Api, like: str, tmp_path: Path) -> None:
    """Vectors come back to the inputs they belong to, whatever order the answer has."""
    encoder = open_encoder(spec_for(api, like, dimension=WIDTH))
    for check in (check_shapes, check_conditions, check_batches):
        check(encoder, tmp_path)
    assert all(KEY not in json.dumps(body) for body in api.bodies)


def test_gemini_is_sent_its_shape(api: Api, tmp_path: Path) -> None:
    """The parts of one content make one vector; a dimension is asked for where the spec has one, else not named."""
    pictures = pictures_in(tmp_path / "pictures")
    queries = queries_of(pictures)[-1:]
    vectors_of(open_encoder(spec_for(api, "gemini", dimension=768)), queries, Condition.MULTIMODAL)
    (request,) = api.bodies[0]["requests"]
    assert request["model"] == "models/some-model"
    assert request["outputDimensionality"] == 768
    *shown, said = request["content"]["parts"]
    assert said == {"text": "find an image\nsame dog"}
    for part, picture in zip(shown, pictures, strict=False):
        image = Image.open(io.BytesIO(base64.b64decode(part["inlineData"]["data"])))
        assert part["inlineData"]["mimeType"] == "image/png"
        np.testing.assert_array_equal(np.asarray(image), np.asarray(picture.open()))
    assert len(shown) == 2
    assert api.headers[0]["X-Goog-Api-Key"] == KEY
    vectors_of(open_encoder(spec_for(api, "gemini")), queries, Condition.IMAGE_ONLY)
    (request,) = api.bodies[1]["requests"]
    assert "outputDimensionality" not in request
    assert [*request["content"]["parts"][0]] == ["inlineData"]
    assert len(request["content"]["parts"]) == 2, "no API takes an empty text"


def test_voyage_is_told_which_is_the_query(api: Api, tmp_path: Path) -> None:
    """It writes another prompt for queries than for documents; jpeg and a limit of pixels keep requests small."""
    pictures = pictures_in(tmp_path / "pictures")
    encoder = open_encoder(spec_for(api, picture_format="jpeg", max_pixels=900))
    encoder.encode_images(pictures[:1])
    vectors_of(encoder, queries_of(pictures)[:1], Condition.TEXT_ONLY)
    assert [body["input_type"] for body in api.bodies] == ["document", "query"]
    assert api.headers[0]["Authorization"] == f"Bearer {KEY}"
    content = api.bodies[1]["inputs"][0]["content"]
    head, data = content[0]["image_base64"].split(",")
    assert head == "data:image/jpeg;base64"
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert image.width * image.height <= 900
    assert not np.asarray(image).any()


def test_an_api_is_spelt_out(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """One input a request, one vector deep in the answer, no key: braces in a query are words like any other."""
    monkeypatch.delenv("GEMINI_API_KEY")
    shape = {
        "url": api.url,
        "body": {"content": "{input}", "model": "{model}"},
        "input": {"say": "{parts}"},
        "text": {"text": "{text}"},
        "picture": {"png": "{base64}"},
        "vectors": "embedding.0.values",
    }
    encoder = open_encoder(Spec("own", "remote", "m", "1", options={"api": shape, **QUICK}))
    api.troubles.append(Trouble(content=b'{"embedding": [{"values": [3, 4]}]}'))
    np.testing.assert_allclose(asked(encoder, "{text} in {model}"), [[0.6, 0.8]], atol=1e-6)
    assert api.bodies == [{"content": {"say": [{"text": "{text} in {model}"}]}, "model": "m"}]


def test_a_busy_api_is_waited_for_as_long_as_it_asks(api: Api) -> None:
    """Seconds or a date; trying at once again would only make it busier."""
    api.troubles.append(Trouble(429, {"Retry-After": "1"}))
    api.troubles.append(Trouble(503, {"Retry-After": formatdate(time() + 3, usegmt=True)}))
    found = asked(open_encoder(spec_for(api)))
    first, second, third = api.times
    assert second - first >= 1
    assert third - first >= 1.9  # a date has whole seconds
    row = np.array(vector_of([{"type": "text", "text": "in red"}]))
    np.testing.assert_allclose(found[0], row / np.linalg.norm(row), atol=1e-6)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (Trouble(500, content=b"out of order"), "out of order"),
        (Trouble(409), "409"),
        (Trouble(429, {"Retry-After": "soon"}), "429"),
        (Trouble(silent=1.0), "0.6 seconds"),
        (Trouble(dripping=30), "0.6 seconds"),
        (Trouble(hang_up=True), "closed"),
    ],
    ids=["500", "409", "429", "silent", "dripping", "hang-up"],
)
def test_an_api_that_keeps_failing_says_what_to_do(api: Api, trouble: Trouble, said: str) -> None:
    """Three tries, then the error with the last answer: finished shards are kept, says the remedy."""
    api.troubles.extend([trouble] * 3)
    with pytest.raises(EncoderError, match="finished shards are kept") as caught:
        asked(open_encoder(spec_for(api)))
    assert caught.value.code == "api-failing"
    assert said in caught.value.detail
    assert len(api.times) == 3


def test_one_failure_is_no_failure(api: Api) -> None:
    """A connection that breaks once costs a second request and nothing else."""
    api.troubles.append(Trouble(hang_up=True))
    assert asked(open_encoder(spec_for(api))).shape == (1, WIDTH)


def test_an_api_that_asks_for_an_hour_is_left(api: Api) -> None:
    """A daily quota is used up: the job ends and says so, where it would hang."""
    api.troubles.append(Trouble(429, {"Retry-After": "3600"}, b"quota"))
    begun = monotonic()
    with pytest.raises(EncoderError, match=r"3,600 seconds.*quota") as caught:
        asked(open_encoder(spec_for(api)))
    assert caught.value.code == "api-failing"
    assert monotonic() - begun < 5


def test_nobody_there_is_a_failing_api(api: Api) -> None:
    """A wrong port, no network, a name that does not resolve."""
    shape = {"url": "http://127.0.0.1:9/"}
    with pytest.raises(EncoderError) as caught:
        asked(open_encoder(spec_for(api, shape=shape)))
    assert caught.value.code == "api-failing"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 302])
def test_a_refusal_is_not_tried_again(api: Api, status: int) -> None:
    """The answer is shown, without the key that some APIs repeat, cut, in one line; a redirect gets no key either."""
    content = f"bad key {KEY}\n\x1b[31m{'x' * 9000}".encode()
    api.troubles.append(Trouble(status, {"Location": f"{api.url}/elsewhere"}, content))
    with pytest.raises(EncoderError, match="bad key") as caught:
        asked(open_encoder(spec_for(api)))
    assert caught.value.code == "api-refused"
    assert len(api.times) == 1
    assert KEY not in str(caught.value)
    assert caught.value.detail.isprintable()
    assert len(caught.value.detail) < 500


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"[]",
        b'{"data": {}}',
        b'{"data": []}',
        b'{"data": [{"embedding": [1, 2], "index": 0}, {"embedding": [1, 2], "index": 1}]}',
        b'{"data": [{"embedding": [1, "2"], "index": 0}]}',
        b'{"data": [{"embedding": [[1]], "index": 0}]}',
        b'{"data": [{"embedding": [], "index": 0}]}',
        b'{"data": [{"embedding": null, "index": 0}]}',
        b'{"data": [{"embedding": [1, 2]}]}',
        b'{"data": [{"embedding": [1, 2], "index": 5}]}',
        b'{"data": [{"embedding": [1, 2], "index": true}]}',
    ],
)
def test_an_answer_of_another_shape_is_no_vector(api: Api, answer: bytes) -> None:
    """Whatever a changed API sends, it is an error with the path, and never a vector of something else."""
    api.troubles.append(Trouble(content=answer))
    with pytest.raises(EncoderError, match="another shape") as caught:
        asked(open_encoder(spec_for(api)))
    assert caught.value.code == "api-answer"


def test_the_rate_is_kept(api: Api) -> None:
    """Requests of one minute are spread over it, retries included."""
    encoder = open_encoder(spec_for(api, requests_per_minute=300))
    api.troubles.append(Trouble(500))
    for _ in range(3):
        asked(encoder)
    assert len(api.times) == 4
    assert min(np.diff(api.times)) > 0.15


def test_the_key_is_needed_and_is_in_no_fingerprint(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it nothing is sent; how fast and from which variable decides no vector, so finished shards stay good."""
    spec = spec_for(api)
    before = spec.fingerprint
    for other in ({"key": "OTHER_KEY"}, {"requests_per_minute": 7}, {"together": 2}):
        assert replace(spec, options={**spec.options, **other}).fingerprint == before
    assert replace(spec, options={**spec.options, "dimension": 7}).fingerprint != before
    monkeypatch.setenv("VOYAGE_API_KEY", "another")
    assert spec.fingerprint == before
    for value in (None, " ", "two\nlines"):
        monkeypatch.delenv("VOYAGE_API_KEY")
        if value is not None:
            monkeypatch.setenv("VOYAGE_API_KEY", value)
        with pytest.raises(EncoderError, match="VOYAGE_API_KEY") as caught:
            open_encoder(spec)
        assert caught.value.code == "api-key"
        monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    assert not api.times


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/v1",
        "ftp://127.0.0.1/",
        "https://user:pass@example.org/",
        "file:///etc/passwd",
        "https://",
        "http://127.0.0.1.example.org/",
        "http://[::1",
    ],
)
def test_a_key_is_sent_over_https_alone(api: Api, url: str) -> None:
    """But for this machine, where tests and proxies are."""
    with pytest.raises(EncoderError) as caught:
        open_encoder(spec_for(api, shape={"url": url}))
    assert caught.value.code == "spec"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"api": "other"}, "voyage"),
        ({"api": {"like": "voyage", "txt": 1}}, "txt"),
        ({"api": {"url": "https://example.org"}}, "body"),
        ({"api": {"like": "gemini", "headers": {"a": 1}}}, "headers"),
        ({"api": {"like": "gemini", "vectors": 3}}, "vectors"),
        ({"api": {"like": "gemini", "vectors": "embedding.values", "together": 4}}, "together"),
        ({"api": "gemini", "tries": 0}, "tries"),
        ({"api": "gemini", "timeout_seconds": 0}, "timeout_seconds"),
        ({"api": "gemini", "picture_format": "bmp"}, "picture_format"),
        ({"api": "gemini", "timeout": 3}, "timeout"),
    ],
)
def test_wrong_options_of_apis_are_named(api: Api, options: dict[str, Any], named: str) -> None:
    """Before anything is sent, and paid for."""
    with pytest.raises(EncoderError, match=named) as caught:
        open_encoder(Spec("remote", "remote", "m", "1", options=options))
    assert caught.value.code == "spec"


def test_a_query_with_nothing_in_it_has_no_vector(api: Api) -> None:
    """A split may have queries without a picture: image-only cannot be built of them here."""
    encoder = open_encoder(spec_for(api))
    with pytest.raises(EncoderError, match="query 1") as caught:
        encoder.encode_queries([Query("1", (), "")], Condition.IMAGE_ONLY)
    assert caught.value.code == "condition"
