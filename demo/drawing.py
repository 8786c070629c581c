"""Pictures of scenes. Coordinates are integers before Pillow sees them: the pixels are the same everywhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from demo.chance import between
from demo.scenes import Scene

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

SIDE = 144
"""Width and height of a picture in pixels."""
_FINE = 4  # supersampling: drawn at four times the size, then averaged
_CANVAS = SIDE * _FINE

Colour = tuple[int, int, int]
Point = tuple[int, int]

PAINT: dict[str, Colour] = {
    "red": (219, 50, 54),
    "orange": (242, 138, 36),
    "yellow": (246, 208, 52),
    "green": (62, 166, 84),
    "blue": (48, 112, 214),
    "purple": (146, 78, 190),
}
_SKY: dict[str, tuple[Colour, Colour]] = {
    "LIGHTEST": ((247, 245, 240), (229, 225, 216)),
    "SECOND_LIGHTEST": ((206, 212, 215), (182, 191, 196)),
    "SECOND_DARKEST": ((120, 127, 136), (92, 99, 109)),
    "DARKEST": ((52, 57, 68), (31, 35, 44)),
}
_RADIUS = {"small": 0.078, "large": 0.132}
_COLUMN = {"left": 0.24, "middle": 0.5, "right": 0.76}
_ROWS = {"one": (0.5,), "two": (0.32, 0.68), "three": (0.19, 0.5, 0.81)}
_LINE = 0.013  # width of an outline


def render(scene: Scene) -> Image:
    """Return the picture of ``scene``, RGB, :data:`SIDE` pixels square."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 building splits needs NumPy only

    top, bottom = _SKY[scene.tone]
    canvas = Image.new("RGB", (_CANVAS, _CANVAS))
    draw = ImageDraw.Draw(canvas)
    _paint_sky(draw, top, bottom)
    _paint_hills(draw, scene, bottom)
    for number, centre in enumerate(_centres(scene)):
        _paint_object(draw, scene, centre, between(-11, 11, "angle", number, scene.identity))
    return canvas.resize((SIDE, SIDE), Image.Resampling.BOX)


def blank() -> Image:
    """Return the black picture that stands in for the reference where a run may look at the text only (decision 37)."""
    from PIL import Image  # noqa: PLC0415 as above

    return Image.new("RGB", (SIDE, SIDE))


def _paint_sky(draw: ImageDraw, top: Colour, bottom: Colour) -> None:
    for y in range(_CANVAS):
        draw.line(((0, y), (_CANVAS, y)), fill=_mix(top, bottom, 100 * y // _CANVAS))


def _paint_hills(draw: ImageDraw, scene: Scene, ground: Colour) -> None:
    for number, depth in enumerate((4, 9)):
        x = between(0, _CANVAS, "hill", number, scene.identity)
        height = _CANVAS * between(14 - 6 * number, 24 - 6 * number, "height", number, scene.identity) // 100
        width = _CANVAS * 7 // 10
        box = (x - width, _CANVAS - height, x + width, _CANVAS + 2 * height)
        draw.ellipse(box, fill=_mix(ground, (0, 0, 0), depth))


def _paint_object(draw: ImageDraw, scene: Scene, centre: Point, angle: int) -> None:
    radius = round(_RADIUS[scene.size] * _CANVAS)
    dark = scene.tone in ("SECOND_DARKEST", "DARKEST")
    shadow = _mix(_SKY[scene.tone][1], (0, 0, 0), 30 if dark else 18)
    drop = radius // 7
    draw.polygon(_corners(scene.form, (centre[0] + drop, centre[1] + drop), radius, angle), fill=shadow)
    if scene.finish == "outlined":
        edge = (250, 250, 248) if dark else (40, 42, 50)
        draw.polygon(_corners(scene.form, centre, radius + round(_LINE * _CANVAS), angle), fill=edge)
    draw.polygon(_corners(scene.form, centre, radius, angle), fill=PAINT[scene.colour])


def _centres(scene: Scene) -> list[Point]:
    """Where the objects stand: one column, each a little off it."""
    slack = _CANVAS // 28
    return [
        (
            round(_COLUMN[scene.place] * _CANVAS) + between(-slack, slack, "x", number, scene.identity),
            round(row * _CANVAS) + between(-slack // 2, slack // 2, "y", number, scene.identity),
        )
        for number, row in enumerate(_ROWS[scene.number])
    ]


def _corners(form: str, centre: Point, radius: int, angle: int) -> list[Point]:
    """Return the outline of ``form`` around ``centre``, turned by ``angle`` degrees, as whole pixels of the canvas."""
    turn = math.radians(angle)
    cosine, sine = math.cos(turn), math.sin(turn)
    return [
        (
            centre[0] + round(radius * (x * cosine - y * sine)),
            centre[1] + round(radius * (x * sine + y * cosine)),
        )
        for x, y in _UNIT[form]
    ]


def _regular(corners: int, start: float, radii: tuple[float, ...] = (1.0,)) -> list[tuple[float, float]]:
    """Return corners on circles of the given ``radii`` in turn, the first at ``start`` degrees."""
    return [
        (
            radii[number % len(radii)] * math.cos(math.radians(start + 360 * number / corners)),
            radii[number % len(radii)] * math.sin(math.radians(start + 360 * number / corners)),
        )
        for number in range(corners)
    ]


def _heart(points: int = 72) -> list[tuple[float, float]]:
    turns = [2 * math.pi * number / points for number in range(points)]
    return [
        (
            1.02 * math.sin(t) ** 3,
            -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)) / 15.5 - 0.05,
        )
        for t in turns
    ]


_UNIT = {
    "circle": _regular(96, 0),
    "square": [(1.25 * x, 1.25 * y) for x, y in _regular(4, 45)],
    "triangle": [(1.2 * x, 1.2 * y + 0.18) for x, y in _regular(3, -90)],
    "star": [(1.15 * x, 1.15 * y + 0.04) for x, y in _regular(10, -90, (1.0, 0.45))],
    "heart": _heart(),
}
"""Form -> outline in a circle of about radius one, y downwards; areas are alike, size is a property of its own."""


def _mix(first: Colour, second: Colour, percent: int) -> Colour:
    red, green, blue = (
        (one * (100 - percent) + other * percent) // 100 for one, other in zip(first, second, strict=True)
    )
    return red, green, blue
