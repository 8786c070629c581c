"""Models of the real architectures with a handful of random weights, saved as a publisher saves them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from evaluator.encoders.base import Picture, Query
from evaluator.encoders.spec import Spec
from evaluator.encoders.weights import folder_digest

WORDS = ["same", "with", "dark", "skin", "tone", "a", "red", "dress", "find", "an", "image", "that", "matches", "dog"]
COLOURS = ["navy", "tomato", "gold", "teal", "orchid", "white"]


def spec_of(folder: Path, family: str, **options: Any) -> Spec:
    """Return the spec of saved weights, in the state they are in."""
    return Spec(folder.name, family, str(folder), folder_digest(folder), options=options)


def pictures_in(folder: Path, count: int = 5) -> list[Picture]:
    """Draw pictures of different sizes and contents."""
    from PIL import Image, ImageDraw

    folder.mkdir(exist_ok=True)
    drawn = []
    for number in range(count):
        path = folder / f"{number}.png"
        image = Image.new("RGB", (40 + 16 * number, 64 - 7 * number), COLOURS[number])
        ImageDraw.Draw(image).ellipse((4, 4, 20 + 3 * number, 30), fill=COLOURS[number - 1])
        image.save(path)
        drawn.append(Picture(str(number), path))
    return drawn


def queries_of(pictures: list[Picture]) -> list[Query]:
    """Return queries of different lengths over ``pictures``; the last has two of them."""
    texts = ["same with dark skin tone", "a red dress", "dog", "find an image that matches a dog with a red dress", "a"]
    queries = [
        Query(str(number), (shown,), text, "find an image")
        for number, (shown, text) in enumerate(zip(pictures, texts, strict=False))
    ]
    return [*queries, Query("two", tuple(pictures[:2]), "same dog", "find an image")]


def recoloured(folder: Path, pictures: list[Picture]) -> list[Picture]:
    """Draw pictures of the same sizes and another content."""
    from PIL import Image

    folder.mkdir(exist_ok=True)
    drawn = []
    for shown in pictures:
        path = folder / f"{shown.id}.png"
        Image.new("RGB", shown.open().size, "olive").save(path)
        drawn.append(Picture(shown.id, path))
    return drawn


def _save_tokenizer(folder: Path, special: list[str], pad: str, **names: Any) -> Any:
    """Save a tokenizer of bytes, with some words in one piece."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer.add_tokens(WORDS)
    saved = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=pad, **names)
    saved.save_pretrained(folder)
    return saved


def save_clip(folder: Path, seed: int = 1) -> Path:
    """Save a tiny CLIP."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    tokenizer = _save_tokenizer(
        folder, ["<|start|>", "<|end|>"], "<|end|>", bos_token="<|start|>", eos_token="<|end|>", model_max_length=40
    )
    _end_texts(folder, tokenizer)
    torch.manual_seed(seed)
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 40,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    vision = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 32,
        "patch_size": 8,
    }
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=24)
    CLIPModel(config).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


def save_siglip(folder: Path, seed: int = 2) -> Path:
    """Save a tiny SigLIP."""
    import torch
    from transformers import SiglipConfig, SiglipImageProcessorPil, SiglipModel

    tokenizer = _save_tokenizer(folder, ["</s>"], "</s>", eos_token="</s>")
    _end_texts(folder, tokenizer)
    torch.manual_seed(seed)
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 24,
        "projection_size": 32,
    }
    vision = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 32,
        "patch_size": 8,
    }
    SiglipModel(SiglipConfig(text_config=text, vision_config=vision)).save_pretrained(folder)
    SiglipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


def save_siglip2(folder: Path, seed: int = 7) -> Path:
    """Save a tiny SigLIP 2 of the kind that keeps a picture's shape: patches, their mask and how they lie."""
    import string

    import torch
    from transformers import Siglip2Config, Siglip2ImageProcessorPil, Siglip2Model, Siglip2Tokenizer

    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁"]
    tokenizer = Siglip2Tokenizer(vocab={sign: at for at, sign in enumerate([*special, *string.ascii_lowercase])})
    tokenizer.padding_side = "right"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0}
    text = sizes | ends | {"vocab_size": len(tokenizer), "max_position_embeddings": 64, "projection_size": 32}
    vision = sizes | {"patch_size": 8, "num_patches": 16}
    Siglip2Model(Siglip2Config(text_config=text, vision_config=vision)).save_pretrained(folder)
    Siglip2ImageProcessorPil(patch_size=8, max_num_patches=16).save_pretrained(folder)
    return folder


def _end_texts(folder: Path, tokenizer: Any) -> None:
    """Have a saved tokenizer put an end (and a beginning) around texts, as CLIP's does."""
    from tokenizers import Tokenizer, processors

    path = str(folder / "tokenizer.json")
    changed = Tokenizer.from_file(path)
    start = f"{tokenizer.bos_token}:0 " if tokenizer.bos_token else ""
    ends = [token for token in (tokenizer.bos_token, tokenizer.eos_token) if token]
    changed.post_processor = processors.TemplateProcessing(
        single=f"{start}$A:0 {tokenizer.eos_token}:0",
        special_tokens=[(token, tokenizer.convert_tokens_to_ids(token)) for token in ends],
    )
    changed.save(path)


def save_qwen(folder: Path, kind: str, seed: int = 3) -> Path:
    """Save a tiny Qwen2-VL, Qwen2.5-VL or Qwen3-VL, with the head for generation that published weights have."""
    import torch
    from transformers import Qwen2VLImageProcessorPil

    marks = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", "<emb>"]
    tokenizer = _save_chat_tokenizer(folder, marks)
    names = ("vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id")
    ids = dict(zip(names, (tokenizer.convert_tokens_to_ids(mark) for mark in marks), strict=False))
    torch.manual_seed(seed)
    _MODELS[kind](len(tokenizer), ids).save_pretrained(folder)
    size = {"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 6}
    Qwen2VLImageProcessorPil(size=size, patch_size=16 if kind == "qwen3_vl" else 14).save_pretrained(folder)
    return folder


def save_omni(folder: Path, prepared: Path, seed: int = 4) -> Path:
    """Save a tiny thinker of Qwen2.5-Omni, and what prepares its inputs elsewhere, as E5-Omni is published."""
    import torch
    from transformers import (
        Qwen2_5OmniThinkerConfig,
        Qwen2_5OmniThinkerForConditionalGeneration,
        Qwen2VLImageProcessorPil,
    )

    marks = [
        "<|vision_bos|>",
        "<|vision_eos|>",
        "<|IMAGE|>",
        "<|VIDEO|>",
        "<|AUDIO|>",
        "<|audio_bos|>",
        "<|audio_eos|>",
    ]
    tokenizer = _save_chat_tokenizer(prepared, marks)
    names = ("vision_start", "vision_end", "image", "video", "audio", "audio_start", "audio_end")
    ids = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(mark) for name, mark in zip(names, marks, strict=True)}
    torch.manual_seed(seed)
    audio = {"d_model": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 16, "output_dim": 32}
    config = Qwen2_5OmniThinkerConfig(
        text_config=_text(len(tokenizer)),
        vision_config=_VISION | {"patch_size": 14, "window_size": 56, "fullatt_block_indexes": [1]},
        audio_config=audio,
        **ids,
    )
    Qwen2_5OmniThinkerForConditionalGeneration(config).save_pretrained(folder)
    Qwen2VLImageProcessorPil(size={"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 6}).save_pretrained(prepared)
    return folder


def _save_chat_tokenizer(folder: Path, marks: list[str]) -> Any:
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *marks]
    return _save_tokenizer(folder, special, "<|endoftext|>", eos_token="<|im_end|>")


def _text(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]},
        "bos_token_id": 0,
        "eos_token_id": 0,
    }


_VISION = {"depth": 2, "hidden_size": 32, "out_hidden_size": 32, "intermediate_size": 48, "num_heads": 2}


def _qwen2(vocabulary: int, ids: dict[str, int]) -> Any:
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    vision = {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2, "patch_size": 14}
    return Qwen2VLForConditionalGeneration(Qwen2VLConfig(text_config=_text(vocabulary), vision_config=vision, **ids))


def _qwen2_5(vocabulary: int, ids: dict[str, int]) -> Any:
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    vision = _VISION | {"patch_size": 14, "window_size": 56, "fullatt_block_indexes": [1]}
    config = Qwen2_5_VLConfig(text_config=_text(vocabulary), vision_config=vision, **ids)
    return Qwen2_5_VLForConditionalGeneration(config)


def _qwen3(vocabulary: int, ids: dict[str, int]) -> Any:
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    vision = _VISION | {"patch_size": 16, "num_position_embeddings": 64, "deepstack_visual_indexes": [0, 1]}
    text = _text(vocabulary) | {"head_dim": 8}
    return Qwen3VLForConditionalGeneration(Qwen3VLConfig(text_config=text, vision_config=vision, **ids))


_MODELS = {"qwen2_vl": _qwen2, "qwen2_5_vl": _qwen2_5, "qwen3_vl": _qwen3}


_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}\n{% endfor %}"
)


def save_sentence_model(folder: Path, seed: int = 5) -> Path:
    """Save a tiny LLaVA as sentence-transformers does: pictures and words in one chat, its last token the vector."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import CLIPImageProcessorPil, LlavaConfig, LlavaForConditionalGeneration, LlavaProcessor

    base = folder.with_name(f"{folder.name}-base")
    special = ["<|end|>", "<image>", "<|user|>", "<|system|>"]
    tokenizer = _save_tokenizer(base, special, "<|end|>", eos_token="<|end|>")
    torch.manual_seed(seed)
    text = {key: value for key, value in _text(len(tokenizer)).items() if key != "rope_parameters"}
    vision = {
        "model_type": "clip_vision_model",
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 32,
        "patch_size": 8,
    }
    config = LlavaConfig(
        text_config={"model_type": "llama", **text},
        vision_config=vision,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    LlavaForConditionalGeneration(config).save_pretrained(base)
    LlavaProcessor(
        image_processor=CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_TEMPLATE,
        image_token="<image>",
    ).save_pretrained(base)
    module = Transformer(str(base))
    pooling = Pooling(module.get_embedding_dimension(), pooling_mode="lasttoken")
    prompts = {"query": "find an image", "document": ""}
    SentenceTransformer(modules=[module, pooling], prompts=prompts, device="cpu").save(str(folder))
    return folder


def save_pair_model(folder: Path, seed: int = 6) -> Path:
    """Save a tiny GIT: it takes a picture and a text as one input, in no chat."""
    import torch
    from transformers import CLIPImageProcessorPil, GitConfig, GitForCausalLM, GitProcessor

    special = ["<|end|>", "[CLS]", "[SEP]"]
    tokenizer = _save_tokenizer(folder, special, "<|end|>", eos_token="<|end|>")
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = GitConfig(
        vision_config=sizes | {"image_size": 32, "patch_size": 8},
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
        **sizes,
    )
    GitForCausalLM(config).save_pretrained(folder)
    images = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    GitProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def copied(source: Path, target: Path) -> Path:
    """Copy saved weights, to be spoilt."""
    shutil.copytree(source, target)
    return target
