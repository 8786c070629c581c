"""What vision-language embedders are asked, as data: prompts with places to fill, and the presets of known models.

A place is ``{name}``, or ``{name|words where it is empty}``. ``pictures`` is the markup of every picture of the input,
``text`` and ``instruction`` are the query's, ``prompt`` is both, one line each. Words of a query that would be read as
control tokens are taken out before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluator.encoders.problems import EncoderError
from evaluator.encoders.shaping import choice, count
from evaluator.encoders.spec import Spec

_PLACE = re.compile(r"\{(pictures|prompt|text|instruction)(?:\|([^{}]*))?\}")
IMAGE = "{image}"
"""Where the tokens of a picture go in its markup."""

POOLINGS = ("last", "mean", "token")


@dataclass(frozen=True)
class Prompts:
    """How inputs become prompts, and which hidden states become the vector. Names are those of the options."""

    query: str = ""
    """For pictures and text."""
    query_picture: str = ""
    """For pictures without text: the image-only condition."""
    query_text: str = ""
    """For a text whose split gives it no picture at all; the text-only condition has a black one."""
    gallery: str = ""
    """For an image of the gallery."""
    picture: str = "<|vision_start|>{image}<|vision_end|>"
    """Markup of one picture; ``{image}`` becomes as many image tokens as the picture has patches."""
    pooling: str = "last"
    """``last``: the last token of the prompt; ``mean``: all of them; ``token``: the place of ``token``."""
    token: str = ""
    offset: int = 0
    """Places from ``token`` to the state that is taken; -1 for the one before it."""
    min_pixels: int = 0
    max_pixels: int = 0
    """Bounds that pictures are scaled into; 0 for those that come with the weights."""
    dimension: int = 0
    """Leading coordinates kept, where the model was trained for it; 0 for all."""

    @classmethod
    def of(cls, spec: Spec) -> Prompts:
        """Return the preset that the spec names, changed where its options say otherwise. Raises EncoderError."""
        name = choice(spec, "preset", "", ("", *PRESETS))
        base = PRESETS.get(name, cls())
        changed: dict[str, Any] = {}
        for field in ("query", "query_picture", "query_text", "gallery", "picture", "token"):
            changed[field] = str(spec.option(field, getattr(base, field), str))
        for field in ("min_pixels", "max_pixels", "dimension"):
            changed[field] = count(spec, field, getattr(base, field))
        changed["offset"] = int(spec.option("offset", base.offset, int))
        changed["pooling"] = choice(spec, "pooling", base.pooling, POOLINGS)
        prompts = replace(base, **changed)
        prompts.check()
        return prompts

    def check(self) -> None:
        """Refuse prompts that cannot work. Raises EncoderError."""
        if not self.query:
            raise EncoderError("spec", f"give preset, one of {', '.join(PRESETS)}, or your own query")
        if IMAGE not in self.picture:
            raise EncoderError("spec", f"option picture lacks {IMAGE}")
        for name in ("query", "query_picture", "gallery"):
            if "{pictures}" not in (getattr(self, name) or self.query):
                raise EncoderError("spec", f"option {name} lacks {{pictures}}")
        if self.pooling == "token" and not self.token:
            raise EncoderError("spec", "pooling token needs the option token")

    def for_query(self, pictures: int, text: str, instruction: str) -> str:
        """Return the prompt of a query; each picture's place holds ``{image}``."""
        if not pictures:
            template = self.query_text or self.query
        else:
            template = self.query if text or instruction else (self.query_picture or self.query)
        prompt = "\n".join(part for part in (instruction, text) if part)
        shown = self.picture * pictures
        return _filled(template, {"pictures": shown, "text": text, "instruction": instruction, "prompt": prompt})

    def for_gallery(self) -> str:
        """Return the prompt of an image of the gallery."""
        template = self.gallery or self.query_picture or self.query
        return _filled(template, {"pictures": self.picture})


def control_tokens(tokenizer: Any) -> list[str]:
    """Return what a tokenizer takes for more than words, the longest first."""
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    return sorted({str(token) for token in added if token.special}, key=len, reverse=True)


def cleaned(text: str, control: Sequence[str]) -> str:
    """Return a query's words without control tokens: one would ask for a picture that is not there, or end a turn."""
    for token in control:
        text = text.replace(token, " ")
    return text


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fill the places in one pass: what is filled in is never looked at again."""
    return _PLACE.sub(lambda place: values.get(place[1]) or place[2] or "", template)


def _chat(system: str, user: str, end: str = "") -> str:
    return f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n{end}"


_ASSISTANT = "You are a helpful assistant."
_INSTRUCTED = f"{{instruction|{_ASSISTANT}}}"
_END = "<|endoftext|>"

# Alibaba-NLP/gme-Qwen2-VL-2B-Instruct, gme_inference.py (as in TIGER-AI-Lab/VLM2Vec, src/model/vlm_backbone/gme): the
# instruction of a query is the system's turn, a default stands there for images; 256 to 1,280 tokens of 28 x 28 pixels.
_GME = Prompts(
    query=_chat(_INSTRUCTED, "{pictures}{text}", _END),
    gallery=_chat(_ASSISTANT, "{pictures}", _END),
    min_pixels=256 * 28 * 28,
    max_pixels=1280 * 28 * 28,
)
# code-kunkun/LamRA, demo.py: one word is asked for and answered by <emb>, and the state before that token is the
# vector. Attention looks back only, so a prompt that stops there and its last token give the same.
_LAMRA = Prompts(
    query=_chat(_ASSISTANT, "{pictures}{prompt}\nSummarize above image and sentence in one word: "),
    query_picture=_chat(_ASSISTANT, "{pictures}\nSummarize above image in one word: "),
    query_text=_chat(_ASSISTANT, "{prompt}\nSummarize above sentence in one word: "),
)
# Qwen/Qwen3-VL-Embedding, scripts/qwen3_vl_embedding.py: instruction (which ends in a full stop) as the system's turn;
# 4 to 1,800 tokens of 32 x 32 pixels; without content the text is NULL.
_QWEN3 = Prompts(
    query=_chat("{instruction|Represent the user's input.}", "{pictures}{text}"),
    query_text=_chat("{instruction|Represent the user's input.}", "{text|NULL}"),
    gallery=_chat("Represent the user's input.", "{pictures}"),
    min_pixels=4 * 32 * 32,
    max_pixels=1800 * 32 * 32,
)
# qihoo360/RzenEmbed, rzen_embed_inference.py (as in embeddings-benchmark/mteb): as GME, on Qwen2-VL.
_RZEN = _GME
# Haon-Chen/e5-omni-7B, model card (as in embeddings-benchmark/mteb, e5_omni_models.py): "Query: " before a query's
# text, the text before the picture, the end of text after the answer's beginning. Pixels as the processor has them.
_E5_OMNI = Prompts(
    query=_chat(_ASSISTANT, "Query: {prompt}{pictures}", _END),
    query_picture=_chat(_ASSISTANT, "{pictures}", _END),
    query_text=_chat(_ASSISTANT, "Query: {prompt}", _END),
    picture="<|vision_bos|>{image}<|vision_eos|>",
)

PRESETS: Mapping[str, Prompts] = {
    "gme": _GME,
    "lamra": _LAMRA,
    "qwen3-vl-embedding": _QWEN3,
    "rzen": _RZEN,
    "e5-omni": _E5_OMNI,
}
"""Name -> how the publisher of a model asks it."""

PROMPT_OPTIONS = ("preset", *Prompts.__dataclass_fields__)
