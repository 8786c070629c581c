"""tus 1.0 as it is written, against a real gunicorn: raw requests, right and wrong."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from tus_client import PART, Server, Tus, checksum

from accounts.models import Team
from evaluator.digests import BLOCK, BlockDigest
from uploads.models import Upload
from uploads.services import NotWhole, fetch, whole

BODY = os.urandom(3 * 2**20 + 17)


def digest_of(body: bytes) -> str:
    digest = BlockDigest()
    digest.update(body)
    return digest.hexdigest()


def stored(body: bytes) -> bool:
    """Whether the one upload there is whole and has exactly these bytes."""
    upload = whole(Team.objects.get(), Upload.objects.get().public_id)
    return upload.digest == digest_of(body) and fetch(upload.stored, None).read_bytes() == body  # type: ignore[arg-type]


def test_a_file_in_two_parts(tus: Tus) -> None:
    made = tus.create(len(BODY), "folder/gallery ü.npz", digest_of(BODY))
    url = made.headers["Location"]
    assert (made.status, made.headers["Upload-Offset"]) == (201, "0")
    first = tus.patch(url, 0, BODY[:1000])
    assert (first.status, first.headers["Upload-Offset"]) == (204, "1000")
    assert first.headers["Upload-Expires"].endswith("GMT")
    head = tus.call("HEAD", url)
    assert (head.headers["Upload-Length"], head.headers["Cache-Control"]) == (str(len(BODY)), "no-store")
    with pytest.raises(NotWhole):
        whole(Team.objects.get(), url)
    last = tus.patch(url, 1000, BODY[1000:], Upload_Checksum=checksum(BODY[1000:]))
    assert (last.status, last.headers["Tus-Resumable"]) == (204, "1.0.0")
    assert stored(BODY)
    (listed,) = json.loads(tus.call("GET", "/api/v1/uploads/").body)
    assert (listed["name"], listed["offset"], listed["url"]) == ("gallery ü.npz", len(BODY), url)
    assert tus.patch(url, len(BODY), b"").status == 204, "an empty part at the end does no harm"


def test_what_the_server_can(tus: Tus) -> None:
    answer = Tus(tus.server, "").call("OPTIONS", "/api/v1/uploads/", Authorization="", Tus_Resumable="")
    assert (answer.status, answer.headers["Tus-Version"]) == (204, "1.0.0")
    assert "checksum" in answer.headers["Tus-Extension"]
    assert int(answer.headers["Tus-Max-Size"]) == 4 * 2**30


def test_wrong_requests(tus: Tus) -> None:
    url = tus.begin(100)
    other = {"Tus_Resumable": "0.2.2"}
    assert tus.create(5, **other).status == tus.call("HEAD", url, **other).status == 412
    assert tus.call("DELETE", url, **other).headers["Tus-Version"] == "1.0.0"
    assert tus.patch(url, 5, b"x").status == 409
    assert tus.patch(url, 0, b"x", Content_Type="text/plain").status == 415
    assert tus.patch(url, 0, b"x", Content_Type="multipart/form-data; boundary=x").status == 415
    assert tus.patch(url, 0, b"x" * 101).status == 413
    assert tus.patch(url, 0, b"x", Upload_Offset="-1").status == 400
    assert tus.patch(url, 0, b"x", Upload_Checksum="crc32 AAAA").status == 400
    assert tus.patch(url, 0, b"x", Upload_Checksum="sha1 ???").status == 400
    assert tus.create(0).status == tus.call("POST", "/api/v1/uploads/").status == 400
    assert tus.create(9, digest="not hexadecimal").status == 400
    assert tus.create(5 * 2**30).status == 413
    assert tus.offset(url) == 0


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "md5"])
def test_a_corrupt_part_leaves_nothing(tus: Tus, algorithm: str) -> None:
    """Report A15: the part is sent again, not the file. Even whole blocks of it must not count before the end."""
    body = os.urandom(BLOCK + 4096)
    url = tus.begin(len(body))
    assert tus.patch(url, 0, body[:100]).status == 204
    wrong = body[100:-1] + bytes([body[-1] ^ 1])
    assert tus.patch(url, 100, wrong, Upload_Checksum=checksum(body[100:], algorithm)).status == 460
    assert tus.offset(url) == 100
    tus.cut(url, 100, body[100:], BLOCK, Upload_Checksum=checksum(body[100:], algorithm))
    assert tus.offset(url) == 100
    assert tus.patch(url, 100, body[100:], Upload_Checksum=checksum(body[100:], algorithm)).status == 204
    assert stored(body)


def test_another_file_than_announced_can_never_be_used(tus: Tus) -> None:
    url = tus.begin(len(BODY), digest_of(b"another"))
    answer = tus.patch(url, 0, BODY)
    assert answer.status == 460
    assert "another file" in json.loads(answer.body)["detail"]
    assert tus.call("HEAD", url).status == 404
    assert not Upload.objects.exists()


def test_a_cut_link_loses_only_what_was_on_its_way(tus: Tus) -> None:
    body = os.urandom(2 * BLOCK)
    url = tus.begin(len(body))
    tus.cut(url, 0, body, BLOCK + 2**20)
    here = tus.offset(url)
    assert BLOCK <= here <= BLOCK + 2**20
    assert tus.patch(url, here, body[here:]).status == 204
    assert stored(body)


def test_a_killed_server_keeps_each_whole_block(tus: Tus) -> None:
    body = os.urandom(2 * BLOCK + 5)
    url = tus.begin(len(body))
    connection = tus.open(url, 0, len(body))
    connection.send(body[: BLOCK + 2**20])
    for _ in range(300):
        if Upload.objects.get().offset == BLOCK:
            break
        time.sleep(0.02)
    tus.server.kill()
    connection.close()
    tus.server.start()
    assert tus.offset(url) == BLOCK
    busy = tus.patch(url, BLOCK, body[BLOCK:])
    assert (busy.status, int(busy.headers["Retry-After"]) <= 10) == (423, True)
    Upload.objects.update(writing_until=timezone.now())
    assert tus.patch(url, BLOCK, body[BLOCK:]).status == 204
    assert stored(body)


def test_one_writer_at_a_time_and_one_taken_over_from_writes_no_more(tus: Tus) -> None:
    url = tus.begin(len(BODY))
    old = tus.open(url, 0, len(BODY))
    old.send(b"\0" * 2**20)
    for _ in range(300):
        if Upload.objects.get().writer:
            break
        time.sleep(0.02)
    assert tus.patch(url, 0, BODY).status == 423
    assert tus.offset(url) == 0, "HEAD never waits"
    Upload.objects.update(writing_until=timezone.now())
    assert tus.patch(url, 0, BODY[: 2**20]).status == 204
    old.send(b"\0" * (len(BODY) - 2**20))
    assert old.getresponse().status in (409, 423)
    assert tus.offset(url) == 2**20
    assert tus.patch(url, 2**20, BODY[2**20 :]).status == 204
    assert stored(BODY)


def test_ended_and_expired_ones_are_gone(tus: Tus) -> None:
    url, expired = tus.begin(10), tus.begin(10)
    assert tus.call("POST", url, X_HTTP_Method_Override="DELETE").status == 204
    Upload.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for gone in (url, expired):
        assert tus.call("HEAD", gone).status == tus.patch(gone, 0, b"x").status == 404


def test_another_teams_upload_does_not_exist(tus: Tus, person: Callable[[str], str]) -> None:
    url = tus.begin(10, digest_of(b"x"))
    eve = Tus(tus.server, person("eve"))
    codes = [eve.call("HEAD", url).status, eve.patch(url, 0, b"x").status, eve.call("DELETE", url).status]
    assert codes == [404, 404, 404]
    assert json.loads(eve.call("GET", "/api/v1/uploads/").body) == []
    assert Tus(tus.server, "").call("HEAD", url, Authorization="").status == 401


def test_the_first_part_beside_the_creation(tus: Tus) -> None:
    made = tus.call("POST", "/api/v1/uploads/", BODY, Upload_Length=str(len(BODY)), Content_Type=PART)
    assert (made.status, made.headers["Upload-Offset"]) == (201, str(len(BODY)))
    assert stored(BODY)


def test_an_expired_token_ends_nothing(tus: Tus, person: Callable[[str], str]) -> None:
    """Report A15: a new token goes on where the old one stopped."""
    from accounts.models import ApiToken, User
    from accounts.services import make_token

    url = tus.begin(len(BODY))
    assert tus.patch(url, 0, BODY[:1000]).status == 204
    ApiToken.objects.all().delete()
    assert tus.patch(url, 1000, BODY[1000:]).status == 401
    tus.token = make_token(User.objects.get(), "new")[1]
    assert tus.patch(url, tus.offset(url), BODY[1000:]).status == 204
    assert stored(BODY)


def test_a_team_has_a_limit(server: Server, person: Callable[[str], str]) -> None:
    tus = Tus(server, person("ada"))
    urls = [tus.begin(4 * 2**30) for _ in range(4)]
    refused = tus.create(1)
    assert (refused.status, "Submit them" in refused.body.decode()) == (429, True)
    assert tus.call("DELETE", urls[0]).status == 204
    assert tus.create(1).status == 201
