"""Every board the project knows (decision 2), as data: benchmark, words of the page, protocol, licence.

The rows of :class:`leaderboard.models.Split` are made from here; a board exists before its annotations were imported
(decision 43: reported-only).
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluator import protocols
from evaluator.types import Protocol


@dataclass(frozen=True)
class BenchmarkDefinition:
    """One benchmark's words."""

    slug: str
    name: str
    summary: str
    paper_title: str = ""
    paper_url: str = ""


@dataclass(frozen=True)
class BoardDefinition:
    """One board's words and protocol."""

    slug: str
    benchmark: str
    name: str
    summary: str
    protocol: Protocol
    licence: str = ""
    source_url: str = ""
    hidden_truth: bool = False
    official_server_url: str = ""
    reported_only: bool = False
    """Numbers over a query set that nobody can submit to; never has a version."""


BENCHMARKS: tuple[BenchmarkDefinition, ...] = (
    BenchmarkDefinition(
        "circus",
        "CIRCUS",
        "Which queries need composition at all? Four benchmarks read on Full, on the shortcut-free queries (SF) and on "
        "the validated ones (V).",
        "CIRCUS (NeurIPS 2026)",
        "https://github.com/matteoattimonelli/CIRCUS",
    ),
    BenchmarkDefinition(
        "pinpoint",
        "PinPoint",
        "Several right answers, explicit hard negatives, paraphrases, two-image queries and skin-tone groups.",
        "PinPoint (CVPR 2026)",
        "https://github.com/pinterest/pinpoint-dataset",
    ),
    BenchmarkDefinition(
        "cirr", "CIRR", "Composed retrieval on real-life images.", "CIRR", "https://github.com/Cuberick-Orion/CIRR"
    ),
    BenchmarkDefinition(
        "fashioniq",
        "FashionIQ",
        "Dresses, shirts and tops, changed by two captions.",
        "Fashion IQ",
        "https://github.com/XiaoxiaoGuo/fashion-iq",
    ),
    BenchmarkDefinition(
        "circo",
        "CIRCO",
        "Open-domain queries on COCO with several ground truths.",
        "CIRCO",
        "https://github.com/miccunifi/CIRCO",
    ),
    BenchmarkDefinition(
        "demo",
        "Demo",
        "Scenes of shapes that this site draws itself, built like the real benchmarks, to try everything out.",
    ),
)

BOARDS: tuple[BoardDefinition, ...] = (
    BoardDefinition(
        "circus-cirr",
        "circus",
        "CIRCUS on CIRR",
        "4,170 queries over all 21,551 CIRR images, the reference kept in the ranking. Not comparable with CIRR's own "
        "numbers: another gallery and another query set.",
        protocols.CIRCUS_SINGLE,
        "MIT (CIRR annotations)",
        "https://github.com/matteoattimonelli/CIRCUS",
    ),
    BoardDefinition(
        "circus-fashioniq",
        "circus",
        "CIRCUS on FashionIQ",
        "6,003 queries over one pool of all three categories, the reference kept in the ranking.",
        protocols.CIRCUS_SINGLE,
        "CDLA (FashionIQ annotations)",
        "https://github.com/matteoattimonelli/CIRCUS",
    ),
    BoardDefinition(
        "circus-lasco",
        "circus",
        "CIRCUS on LaSCo",
        "30,031 queries over 39,826 COCO images.",
        protocols.CIRCUS_SINGLE,
        "MIT (LaSCo annotations)",
        "https://github.com/matteoattimonelli/CIRCUS",
    ),
    BoardDefinition(
        "circus-circo",
        "circus",
        "CIRCUS on CIRCO",
        "220 queries over COCO unlabeled2017; any ground truth counts.",
        protocols.CIRCUS_MULTI,
        "CC BY-NC 4.0 (CIRCO annotations)",
        "https://github.com/matteoattimonelli/CIRCUS",
    ),
    BoardDefinition(
        "pinpoint",
        "pinpoint",
        "PinPoint",
        "The public release: 7,635 rows, 109,600 images. In 3,410 rows the release put a stand-in image in the place "
        "of the reference and left the instruction as it was; Original leaves these rows out.",
        protocols.PINPOINT,
        "CC BY 4.0",
        "https://github.com/pinterest/pinpoint-dataset",
    ),
    BoardDefinition(
        "pinpoint-clean",
        "pinpoint",
        "PinPoint, clean",
        "The same rows and gallery without repeated judgments and without the 310 rows that call an image right and "
        "wrong at once.",
        protocols.PINPOINT,
        "CC BY 4.0",
        "https://github.com/pinterest/pinpoint-dataset",
    ),
    BoardDefinition(
        "pinpoint-paper",
        "pinpoint",
        "PinPoint, as printed in the paper",
        "The numbers printed in the paper, computed by its authors on an earlier query set of 7,846 rows. Not "
        "comparable with the public release.",
        protocols.PINPOINT,
        reported_only=True,
    ),
    BoardDefinition(
        "cirr-val",
        "cirr",
        "CIRR val",
        "4,181 queries over the 2,297 val images, the reference removed.",
        protocols.CIRR,
        "MIT (annotations)",
        "https://github.com/Cuberick-Orion/CIRR",
    ),
    BoardDefinition(
        "cirr-test1",
        "cirr",
        "CIRR test1",
        "4,148 queries over 2,315 images. The truth is hidden: files are checked here and scored on the official "
        "server.",
        protocols.CIRR,
        "MIT (annotations)",
        "https://github.com/Cuberick-Orion/CIRR",
        hidden_truth=True,
        official_server_url="https://cirr.cecs.anu.edu.au/",
    ),
    BoardDefinition(
        "fashioniq-val",
        "fashioniq",
        "FashionIQ val",
        "Three categories, each over its original gallery, in one upload; first is the mean over the categories.",
        protocols.FASHIONIQ,
        "CDLA (annotations)",
        "https://github.com/XiaoxiaoGuo/fashion-iq",
    ),
    BoardDefinition(
        "circo-val",
        "circo",
        "CIRCO val",
        "220 queries over COCO unlabeled2017 with one to fourteen ground truths each.",
        protocols.CIRCO,
        "CC BY-NC 4.0",
        "https://github.com/miccunifi/CIRCO",
    ),
    BoardDefinition(
        "circo-test",
        "circo",
        "CIRCO test",
        "800 queries over COCO unlabeled2017. The truth is hidden: files are checked here and scored on the official "
        "server.",
        protocols.CIRCO,
        "CC BY-NC 4.0",
        "https://github.com/miccunifi/CIRCO",
        hidden_truth=True,
        official_server_url="https://circo.micc.unifi.it/",
    ),
    BoardDefinition(
        "demo-circus",
        "demo",
        "Demo of CIRCUS",
        "Scenes of shapes. Some queries are shortcuts by construction; SF leaves them out.",
        protocols.CIRCUS_MULTI,
        "CC0",
    ),
    BoardDefinition(
        "demo-pinpoint",
        "demo",
        "Demo of PinPoint",
        "Scenes of shapes with explicit negatives, paraphrases and two-image queries.",
        protocols.PINPOINT,
        "CC0",
    ),
    BoardDefinition(
        "demo-emoji",
        "demo",
        "Demo on emoji",
        "Real pictures: every emoji of one font. “Same, with dark skin tone” needs picture and text; other texts name "
        "the target, for the audit to find. `bin/audit-demo` takes the pictures.",
        protocols.CIRCUS_SINGLE,
        "Apache-2.0 (Noto Emoji)",
        "https://github.com/googlefonts/noto-emoji",
    ),
)


def board(slug: str) -> BoardDefinition:
    """Return the definition of a board. Raises KeyError for one the project does not know."""
    return {definition.slug: definition for definition in BOARDS}[slug]
