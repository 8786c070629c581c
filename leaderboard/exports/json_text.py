"""JSON: title, notes, fields, and rows as objects."""

from __future__ import annotations

import json
from dataclasses import asdict

from leaderboard.exports.sheet import Sheet


def json_text(sheet: Sheet) -> str:
    """Return the sheet as one object; a cell without a value is null. Raises ValueError for a number not finite."""
    keys = [field.key for field in sheet.fields]
    whole = {
        "name": sheet.name,
        "title": sheet.title,
        "address": sheet.address,
        "notes": list(sheet.notes),
        "fields": [asdict(field) for field in sheet.fields],
        "rows": [dict(zip(keys, row, strict=True)) for row in sheet.values],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
