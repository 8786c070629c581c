"""``Authorization: Bearer cirb_…`` for the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.models import ApiToken, User
from accounts.services import note_use, token_digest


class TokenAuthentication(BaseAuthentication):
    """Authenticates by a token made on the account page; ``Token`` is taken for ``Bearer``."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        parts = get_authorization_header(request).decode("latin-1").split()
        if not parts or parts[0].lower() not in ("bearer", "token"):
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("Write the header as: Authorization: Bearer TOKEN")
        token = ApiToken.objects.select_related("user").filter(digest=token_digest(parts[1])).first()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("This token is unknown or was revoked. Make one on your account page.")
        note_use(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # drf-spectacular has no types
    """How the API's description says it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token made on your account page."}
