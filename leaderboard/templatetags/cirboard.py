"""Tags that several pages share: outside links and instants."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def outside(address: str, text: str = "") -> str | SafeString:
    """Return a link to another site, or the bare text where the address is none (``javascript:`` above all)."""
    shown = text or address
    if not is_web_address(address):
        return shown
    return format_html('<a href="{}" rel="nofollow noopener">{}</a>', address, shown)


@register.filter
def is_web_address(address: str) -> bool:
    """Whether an address may stand in an ``href``: http or https with a host."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


@register.simple_tag
def moment(instant: datetime | None, empty: str = "–") -> str | SafeString:
    """Return an instant as a ``<time>``: UTC as text, made local by ``times.js`` where scripts run."""
    if instant is None:
        return empty
    utc = timezone.localtime(instant, timezone=timezone.get_fixed_timezone(0))
    machine = f"{utc:%Y-%m-%dT%H:%M:%SZ}"
    return format_html('<time datetime="{}">{}</time>', machine, f"{utc:%-d %b %Y, %H:%M} UTC")
