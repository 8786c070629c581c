"""The servers that tests start for themselves."""

from __future__ import annotations

import pytest
from _house import services
from _house.ports import answers


@pytest.mark.redis
def test_a_redis_answers_and_is_gone_afterwards() -> None:
    import redis

    with services.redis() as url:
        client = redis.Redis.from_url(url)
        assert client.set("key", "value")
        assert client.get("key") == b"value"
    assert not answers(int(url.rsplit(":", 1)[1].split("/")[0]))


@pytest.mark.postgres
def test_a_postgres_answers_and_is_gone_afterwards() -> None:
    import psycopg

    with services.postgres() as url, psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_database(), 1 + 1").fetchone()
        assert row == ("postgres", 2)
    assert not answers(int(url.rsplit(":", 1)[1].split("/")[0]))
