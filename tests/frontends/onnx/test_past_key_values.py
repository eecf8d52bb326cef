"""A decoder as Optimum writes it, with keys and values of tokens before, against onnxruntime."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gawee_dialect import CodeOptions, load
from tests.closeness import assert_allclose

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("onnx")

import torch

from benchmarks.zoo.libraries import import_library

pytestmark = pytest.mark.usefixtures("unoptimized")

runtime = pytest.importorskip("onnxruntime")

LAYERS, HEADS, WIDTH = 2, 2, 8
PAST = [f"past_key_values.{layer}.{what}" for layer in range(LAYERS) for what in ("key", "value")]
PRESENT = [name.replace("past_key_values", "present") for name in PAST]
RANGES = {"sequence_length": (1, 16), "past_sequence_length": (0, 64)}


class WithPast(torch.nn.Module):
    """Takes keys and values one by one, as files have them."""

    def __init__(self, network: Any, cache: Any) -> None:
        super().__init__()
        self.network, self.cache = network, cache

    def forward(
        self, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, *past: torch.Tensor
    ) -> Sequence[torch.Tensor]:
        cache = self.cache()
        for layer in range(LAYERS):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        made = self.network(
            input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache
        )
        layers = made.past_key_values.layers
        return made.logits, *(each for layer in layers for each in (layer.keys, layer.values))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a tiny Llama with the names of Optimum."""
    transformers = import_library("transformers")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        **{"vocab_size": 199, "hidden_size": 48, "num_hidden_layers": LAYERS, "head_dim": WIDTH},
        **{"num_attention_heads": 6, "num_key_value_heads": HEADS, "intermediate_size": 80},
        initializer_range=0.3,
    )
    network = transformers.LlamaForCausalLM(config).eval()
    ids, both = {0: "batch_size", 1: "sequence_length"}, "past_sequence_length + sequence_length"
    names = ["input_ids", "attention_mask", "position_ids", *PAST]
    arguments = (
        *(torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 8, dtype=torch.int64)),
        torch.arange(5, 8).repeat(2, 1),
        *(torch.randn(2, HEADS, 5, WIDTH) for _ in PAST),
    )
    path = tmp_path_factory.mktemp("decoder") / "decoder.onnx"
    torch.onnx.export(
        WithPast(network, transformers.DynamicCache),
        arguments,
        path,
        input_names=names,
        output_names=["logits", *PRESENT],
        dynamic_axes={
            **{"input_ids": ids, "position_ids": ids, "logits": ids},
            "attention_mask": {0: "batch_size", 1: both},
            **{name: {0: "batch_size", 2: "past_sequence_length"} for name in PAST},
            **{name: {0: "batch_size", 2: both} for name in PRESENT},
        },
        dynamo=False,
        opset_version=18,
    )
    return path


def inputs_of(tokens: Sequence[int], past: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Return the inputs of a step: tokens behind those whose keys and values there are."""
    before = past[PAST[0]].shape[2]
    return {
        "input_ids": np.array([tokens]),
        "attention_mask": np.ones((1, before + len(tokens)), np.int64),
        "position_ids": np.arange(before, before + len(tokens))[None],
        **past,
    }


def test_a_decoder_makes_tokens_as_onnxruntime_does(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gawee_dialect.backend import jit

    session = runtime.InferenceSession(str(path))
    network = load(path, ranges=RANGES, shapes={"batch_size": [1]})
    compiled = network.compile(CodeOptions(num_threads=1), sizes=RANGES)
    monkeypatch.delattr(jit.NativeModule, "__init__")
    past = {name: np.zeros((1, HEADS, 0, WIDTH), np.float32) for name in PAST}
    tokens, made = [5, 17, 3, 101], list[int]()
    for _ in range(40):
        given = inputs_of(tokens, past)
        expected = dict(zip(["logits", *PRESENT], session.run(None, given), strict=True))
        results = compiled.run(given)
        for name, array in expected.items():
            # Sums of up to 80 terms in f32, in another order, through two layers.
            assert_allclose(results[name], array, rtol=0, atol=3e-5 * np.abs(array).max())
        past = {name: results[new] for name, new in zip(PAST, PRESENT, strict=True)}
        tokens = [int(results["logits"][0, -1].argmax())]
        assert tokens == [int(expected["logits"][0, -1].argmax())]
        made += tokens
    assert len(set(made)) > 15
