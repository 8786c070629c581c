"""What the small encoder learns from scenes: none of the gallery's pictures, and no text of a query."""

from __future__ import annotations

import demo
from demo import training


def test_no_training_picture_is_in_the_gallery() -> None:
    """Else a picture would be found because it was learned."""
    drawn = training.scenes()
    assert len(drawn) == 540 * training.TURNS
    assert not {scene.identity for scene in drawn} & {scene.identity for scene in demo.gallery()}
    gallery = {demo.render(scene).tobytes() for scene in demo.gallery()[:60]}
    assert not gallery & {demo.render(scene).tobytes() for scene in drawn[:60]}


def test_no_caption_is_a_text_of_a_query() -> None:
    """Else a query would be answered by heart."""
    audited = {text.lower() for split in (demo.build("circus"), demo.build("pinpoint")) for text in split.texts}
    said = [caption for scene in training.scenes() for caption in training.captions(scene)]
    assert len(said) == training.CAPTIONS * len(training.scenes())
    assert not {caption.lower() for caption in said} & audited
