"""transformers' `generate`, whose step torch.compile compiles: tokens and compilations."""

import importlib
from collections.abc import Mapping
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from benchmarks.zoo.libraries import import_library
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.pytorch import compile_torch, dynamo, gawee_backend
from tests.effort import full_run

pytestmark = pytest.mark.usefixtures("unoptimized")

TINY: Mapping[str, Any] = {
    **{"vocab_size": 199, "pad_token_id": 0, "bos_token_id": None, "eos_token_id": None},
}
DECODER: Mapping[str, Any] = {
    **{"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 6, "head_dim": 8},
    **{"num_key_value_heads": 2, "intermediate_size": 80, "initializer_range": 0.3},
}
NETWORKS: Mapping[str, Mapping[str, Any]] = {
    "llama": {**DECODER, "num_hidden_layers": 1},
    "t5": {
        **{"d_model": 48, "d_kv": 8, "d_ff": 80, "num_layers": 2, "num_heads": 6},
        **{"decoder_start_token_id": 0, "initializer_factor": 3.0},
    },
    "whisper": {
        **{"num_mel_bins": 8, "encoder_layers": 1, "decoder_layers": 1, "d_model": 48},
        **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64},
        **{"decoder_ffn_dim": 64, "max_source_positions": 30, "max_target_positions": 128},
        **{"decoder_start_token_id": 2, "init_std": 0.3},
    },
    "gpt2": {"n_embd": 48, "n_layer": 1, "n_head": 6, "initializer_range": 0.3},
    "gemma3_text": {
        **{**DECODER, "sliding_window": 9, "query_pre_attn_scalar": 12},
        "layer_types": ["sliding_attention", "full_attention"],
        "tie_word_embeddings": False,  # else each token is followed by itself
    },
    "phi3": {**DECODER, "num_hidden_layers": 1, "sliding_window": None},
}
CACHES: Mapping[str, tuple[str, ...]] = {
    **{"llama": ("dynamic",), "t5": ("static",), "whisper": ("dynamic",), "gpt2": ("static",)},
    **{"phi3": ("static",), "gemma3_text": ("dynamic", "static")},
}
"""Keys and values of before, as tensors that grow and in a buffer: both with and without an encoder.

The quick run does the first.
"""
WARM = 4
"""Tokens whose steps may compile: the prompt, a first step, one whose sizes are open, and that
which finds a window full."""


def network_of(name: str) -> Any:
    """Return a network with seeded random weights, of which it makes text."""
    transformers = import_library("transformers")
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(name, **TINY, **NETWORKS[name])
    kinds = {"t5": "AutoModelForSeq2SeqLM", "whisper": "AutoModelForSpeechSeq2Seq"}
    return getattr(transformers, kinds.get(name, "AutoModelForCausalLM")).from_config(config).eval()


class Compilations:
    """A streamer that notes how many compilations there were when each token came."""

    def __init__(self) -> None:
        self.now, self.seen = 0, list[int]()

    def put(self, value: object) -> None:
        self.seen.append(self.now)

    def end(self) -> None:
        pass


@pytest.mark.parametrize(
    ("name", "cache"),
    [
        pytest.param(name, cache, marks=full_run if number else ())
        for name, caches in CACHES.items()
        for number, cache in enumerate(caches)
    ],
)
def test_a_compiled_step_makes_the_tokens_of_eager(
    name: str, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, counted, program_of = network_of(name), Compilations(), dynamo.program_of

    def counting(*args: Any, **named: Any) -> object:
        counted.now += 1
        return program_of(*args, **named)

    monkeypatch.setattr(dynamo, "program_of", counting)
    tokens = torch.tensor([[5, 17, 3, 101, 44, 9, 5]])
    inputs: dict[str, Any] = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if name == "whisper":
        inputs = {"input_features": torch.randn(1, 8, 60)}
    options: dict[str, Any] = {"max_new_tokens": 24, "do_sample": False, "disable_compile": True}
    if cache == "static":
        options["cache_implementation"] = "static"
    with torch.no_grad():
        expected = network.generate(**inputs, **options)
        torch._dynamo.reset()
        network.forward = torch.compile(network.forward, backend=gawee_backend)
        made = network.generate(**inputs, **options, streamer=counted)
    assert made.tolist() == expected.tolist()
    assert len(set(made[0].tolist())) > 6
    assert 0 < counted.seen[WARM] == counted.seen[-1]


def test_an_exported_network_keeps_its_cache_and_makes_the_tokens_of_eager() -> None:
    """The prompt and each token are calls of one code, whose buffers have the cache."""
    network, made = network_of("gemma3_text"), [5, 17, 3, 101, 44, 9, 5]
    executorch = importlib.import_module("transformers.integrations.executorch")
    network.generation_config.cache_implementation = "static"
    tokens, length = torch.tensor([made]), torch.export.Dim("length", max=32)
    options: dict[str, Any] = {"max_new_tokens": 24, "do_sample": False, "disable_compile": True}
    with torch.no_grad():
        expected = network.generate(tokens, attention_mask=torch.ones_like(tokens), **options)
        program = executorch.TorchExportableModuleForDecoderOnlyLM(network, 1, 64).export(
            tokens,
            cache_position=torch.arange(len(made)),
            dynamic_shapes={"input_ids": {1: length}, "cache_position": {0: length}},
        )
        compiled = compile_torch(program)
    given = made
    while len(made) < len(expected[0]):
        positions = torch.arange(len(made) - len(given), len(made))
        scores = compiled(torch.tensor([given]), positions)
        assert isinstance(scores, torch.Tensor)
        given = [int(scores[0, -1].argmax())]
        made = made + given
    assert made == expected[0].tolist()
    assert len(set(made)) > 6


def test_a_program_has_inputs_of_its_own() -> None:
    x, other = torch.randn(3, 5), torch.export.Dim("count", max=9)
    program = torch.export.export(torch.nn.Tanh(), (x,), dynamic_shapes=({0: other},))
    compiled = compile_torch(program)

    assert str(compiled.native.inputs[0].shape[0]) == "input_0"
    torch.testing.assert_close(compiled(x), torch.tanh(x))
    torch.testing.assert_close(compiled(x[:2]), torch.tanh(x[:2]))
    with pytest.raises(GaweeError, match=r"expected a program of torch.export without example"):
        compile_torch(program, x)  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        GaweeError, match=r"expected a module or a program of torch.export, got int"
    ):
        compile_torch(7, (x,))  # pyright: ignore[reportArgumentType]
