"""A language model of random weights as a GGUF file, of which llama.cpp makes tokens: Llama's layers, no words.

The form is that of ggml's docs/gguf.md, version 3; weights are Q8_0, blocks of 32 bytes with one scale.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VERSION, ALIGNMENT = 3, 32
UNSIGNED, REAL, TEXT = 4, 6, 8
"""Kinds of values, by their numbers there."""
FLOATS, BLOCKS = 0, 8
"""Kinds of tensors: F32 and Q8_0."""
BLOCK = 32
MOSTLY_BLOCKS = 7
SCALE = np.float16(0.02 / 127)


@dataclass(frozen=True)
class ModelSize:
    """The numbers that say how large a model is; a token reads all weights but the embeddings of other tokens.

    Multiples of 32. Few large matrices: a guest's barriers take longer than they should, and there is one after each.
    """

    tokens: int = 2048
    embedding: int = 960
    inner: int = 2624
    heads: int = 15
    layers: int = 1

    def tensors(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield each tensor's name and shape; those of one dimension are norms."""
        wide, inner = self.embedding, self.inner
        yield "token_embd", (self.tokens, wide)
        yield "output", (self.tokens, wide)
        yield "output_norm", (wide,)
        for layer in range(self.layers):
            yield from ((f"blk.{layer}.{name}", (wide, wide)) for name in ("attn_q", "attn_k", "attn_v", "attn_output"))
            yield from ((f"blk.{layer}.{name}", (inner, wide)) for name in ("ffn_gate", "ffn_up"))
            yield f"blk.{layer}.ffn_down", (wide, inner)
            yield from ((f"blk.{layer}.{name}", (wide,)) for name in ("attn_norm", "ffn_norm"))

    def facts(self) -> dict[str, int | float | str]:
        """Return what the file says of the model."""
        return {
            "general.architecture": "llama",
            "general.file_type": MOSTLY_BLOCKS,
            "llama.context_length": 2048,
            "llama.embedding_length": self.embedding,
            "llama.block_count": self.layers,
            "llama.feed_forward_length": self.inner,
            "llama.attention.head_count": self.heads,
            "llama.attention.head_count_kv": self.heads,
            "llama.attention.layer_norm_rms_epsilon": 1e-5,
            "llama.rope.dimension_count": self.embedding // self.heads,
            "llama.vocab_size": self.tokens,
            "tokenizer.ggml.model": "none",
        }


def write_model(path: Path, size: ModelSize | None = None) -> None:
    """Write a model of the size, always the same."""
    size, random = size or ModelSize(), np.random.default_rng(0)
    shapes, facts = list(size.tensors()), size.facts()
    head = b"GGUF" + struct.pack("<IQQ", VERSION, len(shapes), len(facts))
    head += b"".join(_text(name) + _value(value) for name, value in facts.items())
    data = b""
    for name, shape in shapes:
        kind = FLOATS if len(shape) == 1 else BLOCKS
        head += _text(f"{name}.weight") + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}QIQ", *reversed(shape), kind, len(data))
        data += _padded(np.ones(shape, np.float32).tobytes() if kind == FLOATS else _blocks(random, shape))
    path.write_bytes(_padded(head) + data)


def _blocks(random: np.random.Generator, shape: tuple[int, ...]) -> bytes:
    blocks = np.empty(int(np.prod(shape)) // BLOCK, dtype=[("scale", np.float16), ("weights", np.int8, BLOCK)])
    blocks["scale"] = SCALE
    blocks["weights"] = random.integers(-127, 128, (len(blocks), BLOCK))
    return blocks.tobytes()


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: float | str) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", TEXT) + _text(value)
    return struct.pack("<II", UNSIGNED, value) if isinstance(value, int) else struct.pack("<If", REAL, value)


def _padded(part: bytes) -> bytes:
    return part + b"\0" * (-len(part) % ALIGNMENT)
