"""Finds or makes the method that a submission is for."""

from __future__ import annotations

import secrets

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.text import slugify

from accounts.models import Team
from leaderboard.models import Method

LONGEST_NAME = 120
_check_url = URLValidator(schemes=["http", "https"])

Messages = dict[str, list[str]]


def check_method(name: str, urls: dict[str, str]) -> Messages:
    """Return field -> what is wrong with the method's name or its addresses."""
    messages: Messages = {}
    if not name:
        messages["method"] = ["Name the method."]
    elif len(name) > LONGEST_NAME:
        messages["method"] = [f"Use at most {LONGEST_NAME} characters."]
    elif not name.isprintable():
        messages["method"] = ["Leave out the unprintable characters."]
    for field, url in urls.items():
        if url and not is_web_address(url):
            messages[field] = ["Give an address that begins with http:// or https://, or leave it empty."]
    return messages


def is_web_address(url: str) -> bool:
    """Whether ``url`` may become a link: http and https only, so that no address runs a script (public report A26)."""
    try:
        _check_url(url)
    except ValidationError:
        return False
    return len(url) <= 200


def tidy_name(name: str) -> str:
    """Return a name without blanks around it or doubled inside it."""
    return " ".join(name.split())


def method_of(team: Team, name: str, paper_url: str, code_url: str) -> Method:
    """Return the team's method called ``name``; addresses that are given replace those it had.

    The slug says nothing of another team's methods: whether a name is taken elsewhere is nobody's business.
    """
    slug = f"{slugify(name)[:100] or 'method'}-{secrets.token_hex(4)}"
    method, _ = Method.objects.get_or_create(team=team, name=name, defaults={"slug": slug})
    given = {"paper_url": paper_url or method.paper_url, "code_url": code_url or method.code_url}
    if given != {"paper_url": method.paper_url, "code_url": method.code_url}:
        Method.objects.filter(pk=method.pk).update(**given)
    return method
