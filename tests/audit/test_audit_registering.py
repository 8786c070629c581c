"""An encoder is one exact state: registered once, never changed; pools keep their order."""

from __future__ import annotations

from typing import Any

import pytest
from audits_made import make_encoder, make_pool

pytestmark = pytest.mark.django_db


def spec(**changes: Any) -> Any:
    from evaluator.encoders import Spec

    return Spec.from_dict({"name": "GME", "family": "dual", "model": "a/b", "revision": "1f2e", **changes})


def test_registering_twice_is_once() -> None:
    from audit.services.encoders import register

    first, created = register(spec())
    assert created
    assert register(spec()) == (first, False)
    assert first.slug == "gme"


@pytest.mark.parametrize("change", [{"revision": "other"}, {"model": "c/d"}, {"options": {"fusion": "slerp"}}])
def test_another_state_needs_another_name(change: dict[str, Any]) -> None:
    from audit.services.encoders import EncoderRefused, register

    register(spec())
    with pytest.raises(EncoderRefused, match="a name of its own"):
        register(spec(**change))


def test_a_family_that_does_not_exist_is_refused_with_those_that_do() -> None:
    from audit.services.encoders import EncoderRefused, register

    with pytest.raises(EncoderRefused, match="vision-language"):
        register(spec(family="magic"))


def test_names_that_make_the_same_address_are_told_apart() -> None:
    from audit.services.encoders import EncoderRefused, register

    register(spec())
    with pytest.raises(EncoderRefused):
        register(spec(name="GME!"))


def test_a_pool_keeps_the_order_in_which_models_joined() -> None:
    from audit.services import pools

    encoders = [make_encoder(name) for name in ("Zeta", "Alpha", "Mid")]
    pool = make_pool("house", *encoders)
    assert pools.encoders_of(pool) == encoders
    assert not pools.add(pool, encoders[0])
    assert pools.remove(pool, encoders[1])
    assert pools.add(pool, encoders[1])
    assert [encoder.name for encoder in pools.encoders_of(pool)] == ["Zeta", "Mid", "Alpha"]
